#pragma once
/// @file
/// Problems of lesson 30: sequences whose keys and values lie in pages.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "30_split_kv_decoding/split_kv_decoding.hpp"
#include "attention/problem.hpp"
#include "tensor/tensor.hpp"

namespace course::lesson_30 {

using namespace attention_tests;

using Type = std::optional<Format16>;  // nothing: float32
inline constexpr Type kTypes[] = {Format16::bfloat16, Format16::float16, std::nullopt};
std::string type_name(Type type);

inline constexpr Int kWarps = 4;  // that share the tiles of a split

inline Int divided_up(Int x, Int by) { return (x + by - 1) / by; }

/// How the cache lies in memory.
struct Cache {
  Int page_size = 32, splits = 3;
  Layout layout = Layout::heads_outside;  ///< of (pages, H_kv, page_size, D)
  Int spare_columns = 1;                  ///< of the table, beyond those that the longest sequence needs
  std::optional<Layout> layout_of_V{};    ///< if it is another one
  bool table_by_columns = false;
  Int table_gap = 0;  ///< behind each row of the table, or column
};

/// Sequences and where their tokens lie. What no token has is NaN.
struct Decoding {
  std::vector<Problem> sequences;  ///< one batch each, causal
  Cache cache;
  Tensor<std::int32_t> table{}, lengths{};
  Tensor<float> K_pages{}, V_pages{};

  Int B() const { return static_cast<Int>(sequences.size()); }
  const Problem& first() const { return sequences.front(); }
  Int group() const { return first().H() / first().H_kv(); }
  std::size_t number_of(const Problem& p) const { return static_cast<std::size_t>(&p - sequences.data()); }
  Int split_of(Int length, Int key) const {
    return key / kTileKeys / divided_up(divided_up(length, kTileKeys), cache.splits);
  }
};

std::string describe(const Decoding& x);

/// The sequences of a problem, whose keys beyond their lengths are left out, in pages that lie in no order.
Decoding in_pages(Problem p, const std::vector<Int>& lengths, Type type, Cache cache = {});

struct Heads {
  Int H, H_kv, Nq = 1, D = 64;
};
Decoding random_decoding(const Heads& n, const std::vector<Int>& lengths, Type type, Cache cache = {});

}  // namespace course::lesson_30
