#pragma once
/// @file
/// Contract of lesson 30: attention from a few new tokens to a long cache of keys and values, in pages.

#include <cstdint>

#include "tensor/float16.hpp"
#include "tensor/view.hpp"

namespace course {

// [contract]
inline constexpr std::int64_t kMaxDim = 256, kMaxDimFloat32 = 128;  ///< numbers in a query, at most
inline constexpr std::int64_t kPackedRows = 16;    ///< queries of a group that a block takes together
inline constexpr std::int64_t kTileKeys = 16;      ///< keys that a warp reads at a time; they share a page
inline constexpr std::int64_t kMaxSplits = 65535;  ///< that partial_O may have
inline constexpr std::int64_t kMostSplits = 128,
                              kLeastTiles = 16;   ///< limits of choose_splits(): splits, and tiles of each
inline constexpr std::int64_t kBlocksAtOnce = 2;  ///< of a multiprocessor, as choose_splits() counts

/// @brief O and lse of attention from the last Nq tokens of each sequence to all of its tokens, whose keys
///         and values lie in pages. Token t of sequence b has row t % P of page table(b, t / P). Query i
///         stands at token p = lengths[b] - Nq + i, and sees the tokens up to p.
/// Shapes: Q, O are (B, H, Nq, D), K_pages, V_pages are (pages, H_kv, P, D), table is (B, columns), lengths
///         is (B), lse is (B, H, Nq), partial_O is (splits, B, H, Nq, D), partial_lse is (splits, B, H, Nq),
///         all in device memory. H_kv divides H, and head h of Q reads head h / (H / H_kv). P is a positive
///         multiple of kTileKeys, and D is a multiple of 8. Strides are in elements and not negative; the
///         last axis of Q, K_pages, V_pages and O has stride 1, and their rows begin at multiples of 16
///         bytes. The others have any strides; lengths has no gaps. What is written overlaps nothing. P ·
///         columns is at most 2³⁰.
/// Launch: two kernels; the cache is read by `splits` blocks for every kPackedRows rows of a group, which has
///         H / H_kv · Nq rows, and every head of K_pages and sequence. Returns once both have been accepted.
///         Without queries nothing is launched.
/// Splits: split s gets ⌈tiles / splits⌉ tiles of kTileKeys tokens, from tile s · ⌈tiles / splits⌉ on, as far
///         as there are any; partial_O and partial_lse become O and lse of its tokens alone, 0 and -inf if
///         there are none. They are merged in the order of s.
/// Domain: `scale` is finite and not negative; above 2¹²⁷ it may count as infinite. lse is a natural
///         logarithm. A query that sees no key, or only scores of -inf, gets O = 0 and lse = -inf, as does
///         each with a length of 0 or less. NaN or +inf among the scores that a query sees makes its O and
///         lse NaN. Where `scale` is 0, a product Q·Kᵀ of -inf may give a score of -inf or NaN. A NaN or an
///         infinity among the values of a sequence may reach all of its queries. No page is read past the
///         last token, no table past the last page: what stands there changes nothing. A page that K_pages
///         does not have is not read, and neither is any page of a sequence whose length is more than P ·
///         columns; O and lse of its sequence are NaN then.
/// Error:  S, m, l, O and lse are float32 until the end. Where the type has 16 bits, weights are rounded to
///         it for the product with V, after l has got them, and O is rounded at the end; tensor cores cut
///         off, as in lesson 21. Beyond that at most twice the error of a plain float32 implementation. The
///         same input and the same `splits` give the same bits every time.
/// Cost:   reads the keys and values of each sequence once for every kPackedRows rows of a group, and Q once
///         for each split of these; writes partial_O and partial_lse and reads them back, writes O and lse
///         once. No bank conflicts; no barrier between tiles.
/// @throws std::invalid_argument, naming the argument, if the shapes do not fit, if H_kv does not divide H,
///         if D is not 8, 16, 24 ... kMaxDim (or kMaxDimFloat32), if P is no multiple of kTileKeys, if rows
///         have gaps within or do not begin at multiples of 16 bytes, if there is no split, if table or scale
///         is out of range.
/// @throws std::runtime_error if CUDA refuses a launch.
void decode_bfloat16(View<const bfloat16, 4> Q, View<const bfloat16, 4> K_pages,
                     View<const bfloat16, 4> V_pages, View<const std::int32_t, 2> table,
                     const std::int32_t* lengths, View<bfloat16, 4> O, View<float, 3> lse,
                     View<float, 5> partial_O, View<float, 4> partial_lse, float scale);
void decode_float16(View<const float16, 4> Q, View<const float16, 4> K_pages, View<const float16, 4> V_pages,
                    View<const std::int32_t, 2> table, const std::int32_t* lengths, View<float16, 4> O,
                    View<float, 3> lse, View<float, 5> partial_O, View<float, 4> partial_lse, float scale);
void decode_float32(View<const float, 4> Q, View<const float, 4> K_pages, View<const float, 4> V_pages,
                    View<const std::int32_t, 2> table, const std::int32_t* lengths, View<float, 4> O,
                    View<float, 3> lse, View<float, 5> partial_O, View<float, 4> partial_lse, float scale);

/// @brief How many splits keep a device busy. With n splits there are n · blocks blocks, and a device runs
///         kBlocksAtOnce for each of its multiprocessors at a time. If the last round is not full, places are
///         idle. The answer is the least n of 1 to most whose share of busy places is at least 95 % of the
///         largest such share, where most is tiles / kLeastTiles, but at least 1 and at most kMostSplits.
/// Domain: blocks (of one split) and multiprocessors are positive, tiles (of the longest sequence) is not
///         negative.
/// Cost:   host only; depends on sizes alone, so that every step of a run has the same splits.
std::int64_t choose_splits(std::int64_t blocks, std::int64_t tiles, std::int64_t multiprocessors);
// [contract]

/// For the tests, which call functions that return nothing.
inline void call_choose_splits(std::int64_t blocks, std::int64_t tiles, std::int64_t multiprocessors,
                               std::int64_t* splits) {
  *splits = choose_splits(blocks, tiles, multiprocessors);
}

}  // namespace course
