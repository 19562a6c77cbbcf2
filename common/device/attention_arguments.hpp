#pragma once
/// @file
/// Checks of the arguments of an attention entry, on the host.

#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "device/views.hpp"
#include "tensor/view.hpp"

namespace course::device {

/// @throws std::invalid_argument, naming the argument, unless the elements along the last axis lie side by
/// side.
template <class T, int kRank>
void require_dense_rows(const char* name, const View<T, kRank>& X) {
  if (X.shape[kRank - 1] > 1 && X.strides[kRank - 1] != 1)
    throw std::invalid_argument(std::string(name) + " must have stride 1 along its last axis, but it has " +
                                std::to_string(X.strides[kRank - 1]) + ".");
}

/// @throws std::invalid_argument, naming the argument, unless every row of X, of numbers that lie side by
/// side, begins at a multiple of 16 bytes: it can be copied in chunks of 8 numbers of 16 bits, or 4 of
/// float32.
template <class T, int kRank>
void require_chunked_rows(const char* name, const View<T, kRank>& X) {
  constexpr int kChunk = 16 / sizeof(T);
  const auto past = reinterpret_cast<std::uintptr_t>(X.data) % 16;
  if (past != 0)
    throw std::invalid_argument(std::string(name) + " must begin at a multiple of 16 bytes, but it begins " +
                                std::to_string(past) + " bytes past one.");
  for (int axis = 0; axis < kRank - 1; ++axis)
    if (X.shape[axis] > 1 && X.strides[axis] % kChunk != 0)
      throw std::invalid_argument(std::string(name) + " must have strides that are multiples of " +
                                  std::to_string(kChunk) + ", but that of axis " + std::to_string(axis) +
                                  " is " + std::to_string(X.strides[axis]) + ".");
}

/// @throws std::invalid_argument, naming K, unless its heads can be shared evenly among those of Q, and each
/// is read.
inline void require_groups(std::int64_t H, std::int64_t H_kv) {
  const bool is_one_empty = (H == 0) != (H_kv == 0);
  if (is_one_empty || (H_kv > 0 && H % H_kv != 0))
    throw std::invalid_argument("K must have a number of heads that divides the " + std::to_string(H) +
                                " of Q, or none if Q has none, but it has " + std::to_string(H_kv) + ".");
}

/// @brief Checks what all attention kernels take.
/// Shapes: Q, O are (B, H, Nq, D), K, V are (B, H_kv, Nk, D).
/// @throws std::invalid_argument, naming the argument, if a shape does not fit the others, if D is not 1 to
/// max_dim, or if the elements of a row of Q, K, V or O do not lie side by side.
template <class T, class Output>  // T is float or of 16 bits; Output is T, or const T where O is only read
void require_attention_arguments(const View<const T, 4>& Q, const View<const std::type_identity_t<T>, 4>& K,
                                 const View<const std::type_identity_t<T>, 4>& V, const View<Output, 4>& O,
                                 std::int64_t H_kv, std::int64_t max_dim) {
  const std::int64_t B = Q.shape[0], H = Q.shape[1], Nq = Q.shape[2], D = Q.shape[3], Nk = K.shape[2];
  if (D < 1 || D > max_dim)
    throw std::invalid_argument("Q must have 1 to " + std::to_string(max_dim) +
                                " numbers in each row, but it has " + std::to_string(D) + ".");
  require_shape("K", K, {B, H_kv, Nk, D});
  require_shape("V", V, {B, H_kv, Nk, D});
  require_shape("O", O, {B, H, Nq, D});
  require_dense_rows("Q", Q);
  require_dense_rows("K", K);
  require_dense_rows("V", V);
  require_dense_rows("O", O);
}

/// @brief Checks what all attention kernels of 16 bits take.
/// Shapes: as require_attention_arguments().
/// @throws std::invalid_argument, naming the argument, as that one, if D is no multiple of 8, and if a row of
/// Q, K, V or O does not begin at a multiple of 16 bytes.
template <class T, class Output>
void require_attention_arguments_of_16_bits(const View<const T, 4>& Q,
                                            const View<const std::type_identity_t<T>, 4>& K,
                                            const View<const std::type_identity_t<T>, 4>& V,
                                            const View<Output, 4>& O, std::int64_t H_kv,
                                            std::int64_t max_dim) {
  require_attention_arguments(Q, K, V, O, H_kv, max_dim);
  if (Q.shape[3] % 8 != 0)
    throw std::invalid_argument("Q must have a multiple of 8 numbers in each row, but it has " +
                                std::to_string(Q.shape[3]) + ".");
  require_chunked_rows("Q", Q);
  require_chunked_rows("K", K);
  require_chunked_rows("V", V);
  require_chunked_rows("O", O);
}

/// @brief Checks what a kernel takes that reads keys and values from pages, in chunks of 16 bytes and in
/// tiles of tile_keys tokens, which share a page. Shapes: Q, O are (B, H, Nq, D), K_pages, V_pages are
/// (pages, H_kv, page_size, D), table is (B, columns).
/// @throws std::invalid_argument, naming the argument, if a shape does not fit the others, if H_kv does not
/// divide H, if D is not 8, 16, 24 ... max_dim, if page_size is no multiple of tile_keys, if the table has
/// room for more than 2^30 tokens, or if a row of Q, K_pages, V_pages or O has gaps or does not begin at a
/// multiple of 16 bytes.
template <class T>
void require_paged_arguments(const View<const T, 4>& Q, const View<const std::type_identity_t<T>, 4>& K_pages,
                             const View<const std::type_identity_t<T>, 4>& V_pages,
                             const View<const std::int32_t, 2>& table,
                             const View<std::type_identity_t<T>, 4>& O, std::int64_t tile_keys,
                             std::int64_t max_dim) {
  const std::int64_t B = Q.shape[0], H = Q.shape[1], Nq = Q.shape[2], D = Q.shape[3];
  const std::int64_t pages = K_pages.shape[0], H_kv = K_pages.shape[1], page_size = K_pages.shape[2];
  const auto require = [](bool fits, const char* wanted, std::int64_t limit, const char* but,
                          std::int64_t is) {
    if (!fits) throw std::invalid_argument(wanted + std::to_string(limit) + but + std::to_string(is) + ".");
  };
  require(D % 8 == 0 && D >= 8 && D <= max_dim, "Q must have 8, 16, 24 ... ", max_dim,
          " numbers in each row, but it has ", D);
  require(H_kv == 0 ? H == 0 : H % H_kv == 0, "K_pages must have a number of heads that divides the ", H,
          " of Q, but it has ", H_kv);
  require(page_size > 0 && page_size % tile_keys == 0, "K_pages must have a multiple of ", tile_keys,
          " rows in a page, but it has ", page_size);
  require_shape("K_pages", K_pages, {pages, H_kv, page_size, D});
  require_shape("V_pages", V_pages, {pages, H_kv, page_size, D});
  require_shape("O", O, {B, H, Nq, D});
  require_shape("table", table, {B, table.shape[1]});
  constexpr std::int64_t kMostTokens = std::int64_t{1} << 30;
  require(table.shape[1] <= kMostTokens / page_size, "table must have room for at most ", kMostTokens,
          " tokens, but it has this many columns: ", table.shape[1]);
  const auto require_rows = [](const char* name, const auto& X) {
    require_dense_rows(name, X);
    require_chunked_rows(name, X);
  };
  require_rows("Q", Q);
  require_rows("K_pages", K_pages);
  require_rows("V_pages", V_pages);
  require_rows("O", O);
}

/// @brief Checks what all backward kernels take.
/// Shapes: Q, O, dO, dQ are (B, H, Nq, D), K, V, dK, dV are (B, H_kv, Nk, D), lse and delta are (B, H, Nq).
/// @throws std::invalid_argument as require_attention_arguments().
template <class T>  // float, or of 16 bits
void require_backward_arguments(const View<const T, 4>& Q, const View<const T, 4>& K,
                                const View<const T, 4>& V, const View<const T, 4>& O,
                                const View<const float, 3>& lse, const View<const T, 4>& dO,
                                const View<float, 3>& delta, const View<T, 4>& dQ, const View<T, 4>& dK,
                                const View<T, 4>& dV, std::int64_t H_kv, std::int64_t max_dim) {
  const std::int64_t B = Q.shape[0], H = Q.shape[1], Nq = Q.shape[2], D = Q.shape[3], Nk = K.shape[2];
  require_attention_arguments(Q, K, V, O, H_kv, max_dim);
  require_shape("lse", lse, {B, H, Nq});
  require_shape("dO", dO, {B, H, Nq, D});
  require_shape("delta", delta, {B, H, Nq});
  require_shape("dQ", dQ, {B, H, Nq, D});
  require_shape("dK", dK, {B, H_kv, Nk, D});
  require_shape("dV", dV, {B, H_kv, Nk, D});
  require_dense_rows("dO", dO);
  require_dense_rows("dQ", dQ);
  require_dense_rows("dK", dK);
  require_dense_rows("dV", dV);
}

/// @brief The same for kernels of 16 bits.
/// @throws std::invalid_argument as require_attention_arguments_of_16_bits(), of dO, too.
template <class T>
void require_backward_arguments_of_16_bits(const View<const T, 4>& Q, const View<const T, 4>& K,
                                           const View<const T, 4>& V, const View<const T, 4>& O,
                                           const View<const float, 3>& lse, const View<const T, 4>& dO,
                                           const View<float, 3>& delta, const View<T, 4>& dQ,
                                           const View<T, 4>& dK, const View<T, 4>& dV, std::int64_t H_kv,
                                           std::int64_t max_dim) {
  require_backward_arguments(Q, K, V, O, lse, dO, delta, dQ, dK, dV, H_kv, max_dim);
  require_attention_arguments_of_16_bits(Q, K, V, O, H_kv, max_dim);
  require_chunked_rows("dO", dO);
}

}  // namespace course::device
