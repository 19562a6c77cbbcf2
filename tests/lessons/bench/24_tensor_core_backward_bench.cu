// Measures lesson 24 on a GPU: time of the backward pass in both types, as JSON.
// Built with the kernel that is to be measured; docs/results/README.md has the commands.

#include <cuda_runtime.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <limits>
#include <type_traits>

#include "24_tensor_core_backward/tensor_core_backward.hpp"
#include "bench/attention_benchmark.hpp"
#include "tensor/float16.hpp"

using namespace course::bench;
using course::bfloat16;
using course::float16;
using course::View;

namespace {

constexpr std::int64_t kAllKeys = std::numeric_limits<std::int64_t>::max();

__global__ void fill_rows_kernel(float* x, std::int64_t n, float value) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) x[i] = value;
}

/// A tensor (B, heads, N, D) of T, contiguous.
template <class T>
class Array16 {
 public:
  Array16(std::int64_t B, std::int64_t heads, std::int64_t N, std::int64_t D, unsigned seed)
      : data_(B * heads * N * D, seed), shape_{B, heads, N, D} {}

  View<T, 4> view() const { return view_of(data_.data()); }
  View<const T, 4> read() const { return view_of(static_cast<const T*>(data_.data())); }

 private:
  template <class U>
  View<U, 4> view_of(U* data) const {
    const auto [B, heads, N, D] = shape_;
    return {data, {B, heads, N, D}, {heads * N * D, N * D, D, 1}};
  }

  DeviceArrayOf<T> data_;
  std::array<std::int64_t, 4> shape_;
};

/// 16 K tokens in all and 2048 numbers for each, as the papers of FlashAttention measure.
template <class T>
void measure(std::int64_t N, std::int64_t D, bool causal, float dropout) {
  const std::int64_t B = N < 16384 ? 16384 / N : 1, H = 2048 / D;
  const AttentionSizes n{B, H, H, N, N, D};
  const bool is_bfloat16 = std::is_same_v<T, bfloat16>;
  const Shape settings =
      Shape().flag("bfloat16", is_bfloat16).flag("causal", causal).fraction("dropout", dropout);
  const Array16<T> Q(B, H, N, D, 1), K(B, H, N, D, 2), V(B, H, N, D, 3), O(B, H, N, D, 4), dO(B, H, N, D, 5),
      dQ(B, H, N, D, 6), dK(B, H, N, D, 7), dV(B, H, N, D, 8);
  DeviceArray lse(B * H * N), delta(B * H * N);
  // Scores are small beside 1, so that each of N weights is about 1/N. Times do not depend on it.
  fill_rows_kernel<<<static_cast<unsigned>((B * H * N + 255) / 256), 256>>>(lse.data(), B * H * N,
                                                                            std::log(static_cast<float>(N)));
  CUDA_CHECK(cudaGetLastError());
  const View<const float, 3> lse_view{lse.data(), {B, H, N}, {H * N, N, 1}};
  const View<float, 3> delta_view{delta.data(), {B, H, N}, {H * N, N, 1}};
  const float scale = 1.0f / std::sqrt(static_cast<float>(D));
  const double rows = static_cast<double>(B * H * N), numbers = rows * static_cast<double>(D);
  const double pairs = causal ? pairs_in_window(N, N) : static_cast<double>(N) * static_cast<double>(N);
  const auto backward = [&] {
    if constexpr (std::is_same_v<T, bfloat16>)
      course::attention_backward_bfloat16(Q.read(), K.read(), V.read(), nullptr, O.read(), lse_view,
                                          dO.read(), delta_view, dQ.view(), dK.view(), dV.view(), nullptr,
                                          scale, causal, kAllKeys, 0, dropout, 24);
    else
      course::attention_backward_float16(Q.read(), K.read(), V.read(), nullptr, O.read(), lse_view, dO.read(),
                                         delta_view, dQ.view(), dK.view(), dV.view(), nullptr, scale, causal,
                                         kAllKeys, 0, dropout, 24);
  };
  // Five products count, as in the papers, though the pass makes seven.
  measure_attention(n, pairs, 6 * numbers + 4 * rows, 2 * 9 * numbers + 4 * 4 * rows, settings, backward, 5,
                    Unit::tensor_cores);
}

}  // namespace

int main(int argc, char** argv) try {
  read_options(argc, argv);
  begin_json(24);
  begin_measurements("attention_backward");
  for (const std::int64_t D : {64, 128})
    for (const bool causal : {false, true})
      for (const std::int64_t N : {1024, 2048, 4096, 8192, 16384}) measure<bfloat16>(N, D, causal, 0.0f);
  for (const std::int64_t D : {64, 128}) {
    measure<float16>(4096, D, true, 0.0f);
    measure<bfloat16>(4096, D, true, 0.1f);
  }
  end_measurements();
  end_json();
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
