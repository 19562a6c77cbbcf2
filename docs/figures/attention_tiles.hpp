#pragma once
/// @file
/// Which tiles of keys a forward kernel loads, found out from what it gives: for the figures of lessons 10,
/// 12 and 13. scripts/attention_tiles.py joins a solution with the few lines that call print_tiles(), runs it
/// in the simulator, and draws what it printed.

#include <cuda_runtime.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <vector>

#include "device/cuda_check.hpp"
#include "tensor/view.hpp"

namespace course::figures {

/// Host data in device memory, as tensors of one batch and one head, for as long as it lives.
class OnDevice {
 public:
  explicit OnDevice(const std::vector<float>& values) : bytes_(values.size() * sizeof(float)) {
    CUDA_CHECK(cudaMalloc(&data_, bytes_));
    CUDA_CHECK(cudaMemcpy(data_, values.data(), bytes_, cudaMemcpyHostToDevice));
  }
  ~OnDevice() { cudaFree(data_); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

  template <class T>
  View<T, 4> matrix(std::int64_t rows, std::int64_t cols) const {
    return {data_, {1, 1, rows, cols}, {rows * cols, rows * cols, cols, 1}};
  }
  View<float, 3> row(std::int64_t cols) const { return {data_, {1, 1, cols}, {cols, cols, 1}}; }

  std::vector<float> values() const {
    std::vector<float> copy(bytes_ / sizeof(float));
    CUDA_CHECK(cudaMemcpy(copy.data(), data_, bytes_, cudaMemcpyDeviceToHost));
    return copy;
  }

 private:
  std::size_t bytes_;
  float* data_ = nullptr;
};

/// @brief Calls attend(Q, K, V, O, lse, scale) once, with one batch and one head, and prints what it loaded
/// and saw as CSV: for each `group` queries and each `group` keys, from which on they lie (query, key), how
/// many of the queries' rows come from a block that loaded these keys (loaded), and how many pairs of a query
/// and a key it sees there (seen).
///
/// Two columns of V belong to each group of keys. In one, their values are NaN. A weight of 0 times NaN is
/// NaN, so that column of O tells which queries met these keys at all, hidden or not. In the other they
/// are 1. Since all scores are 0, every key that a query sees has the same weight, exp(-lse), and that column
/// of O tells how many of these it sees.
///
/// Nq and Nk are multiples of group, and 2 * Nk / group at most what the kernel takes for D.
template <class Attend>
void print_tiles(std::int64_t Nq, std::int64_t Nk, std::int64_t group, Attend attend) {
  const std::int64_t groups = Nk / group, D = 2 * groups;
  std::vector<float> values(static_cast<std::size_t>(Nk * D), 0.0f);
  for (std::int64_t j = 0; j < Nk; ++j) {
    float* value = values.data() + j * D + 2 * (j / group);
    value[0] = std::numeric_limits<float>::quiet_NaN();
    value[1] = 1.0f;
  }
  const std::vector<float> zeros(static_cast<std::size_t>((Nq > Nk ? Nq : Nk) * D), 0.0f);
  const OnDevice Q(zeros), K(zeros), V(values), O(zeros), lse(zeros);
  attend(Q.matrix<const float>(Nq, D), K.matrix<const float>(Nk, D), V.matrix<const float>(Nk, D),
         O.matrix<float>(Nq, D), lse.row(Nq), 1.0f);
  CUDA_CHECK(cudaDeviceSynchronize());

  const std::vector<float> output = O.values(), log_of_keys = lse.values();
  std::printf("query,key,loaded,seen\n");
  for (std::int64_t first = 0; first < Nq; first += group) {
    for (std::int64_t g = 0; g < groups; ++g) {
      int loaded = 0;
      long seen = 0;
      for (std::int64_t i = first; i < first + group; ++i) {
        const float* of_group = output.data() + i * D + 2 * g;
        loaded += std::isnan(of_group[0]) ? 1 : 0;
        seen += std::lround(of_group[1] * std::exp(log_of_keys[static_cast<std::size_t>(i)]));
      }
      std::printf("%lld,%lld,%d,%ld\n", static_cast<long long>(first), static_cast<long long>(g * group),
                  loaded, seen);
    }
  }
}

}  // namespace course::figures
