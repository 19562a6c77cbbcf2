// Measures lesson 22 on a GPU: attention in both types, with the causal mask and without, as JSON.
// Built with the kernel that is to be measured; the notes of the lesson have the commands.

#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <type_traits>

#include "22_tensor_core_attention/tensor_core_attention.hpp"
#include "bench/attention_benchmark.hpp"
#include "tensor/float16.hpp"

using namespace course::bench;
using course::bfloat16;
using course::float16;
using course::View;

namespace {

/// Q, K, V, O and lse, contiguous.
template <class T>
struct Arrays {
  explicit Arrays(const AttentionSizes& n)
      : n_(n),
        Q(elements(n), 1),
        K(elements(n), 2),
        V(elements(n), 3),
        O(elements(n), 4),
        lse(n.B * n.H * n.Nq, 5) {}
  static std::int64_t elements(const AttentionSizes& n) { return n.B * n.H * n.Nq * n.D; }
  static double bytes(const AttentionSizes& n) {
    return 14.0 * elements_of_queries(n) + 4.0 * rows_of_queries(n);
  }

  template <class U>
  View<U, 4> view(U* data) const {
    return {data, {n_.B, n_.H, n_.Nq, n_.D}, {n_.H * n_.Nq * n_.D, n_.Nq * n_.D, n_.D, 1}};
  }
  View<float, 3> rows() { return {lse.data(), {n_.B, n_.H, n_.Nq}, {n_.H * n_.Nq, n_.Nq, 1}}; }

  AttentionSizes n_;
  DeviceArrayOf<T> Q, K, V, O;
  DeviceArray lse;
};

template <class T>
void measure(bool causal) {
  constexpr bool kBfloat16 = std::is_same_v<T, bfloat16>;
  const std::string name =
      std::string("attention_forward_") + (kBfloat16 ? "bfloat16" : "float16") + (causal ? "_causal" : "");
  begin_measurements(name.c_str());
  for (const std::int64_t D : {64, 128, 256}) {
    for (const std::int64_t N : {1024, 2048, 4096, 8192, 16384}) {
      const AttentionSizes n = square(N, D);
      if (!fits_attention<Arrays<T>>(n)) continue;
      Arrays<T> x(n);
      const double pairs = causal ? pairs_in_window(N, N) : static_cast<double>(N) * static_cast<double>(N);
      const double result = 2 * elements_of_queries(n) + 4 * rows_of_queries(n);
      const float scale = 1.0f / std::sqrt(static_cast<float>(D));
      measure_attention(
          n, pairs, result, result + 6 * elements_of_queries(n), {},
          [&] {
            const auto Q = x.view(static_cast<const T*>(x.Q.data())),
                       K = x.view(static_cast<const T*>(x.K.data())),
                       V = x.view(static_cast<const T*>(x.V.data()));
            if constexpr (kBfloat16)
              course::attention_forward_bfloat16(Q, K, V, nullptr, x.view(x.O.data()), x.rows(), scale,
                                                 causal, N, 0);
            else
              course::attention_forward_float16(Q, K, V, nullptr, x.view(x.O.data()), x.rows(), scale, causal,
                                                N, 0);
          },
          2, Unit::tensor_cores);
    }
  }
  end_measurements();
}

}  // namespace

int main(int argc, char** argv) try {
  read_options(argc, argv);
  begin_json(22);
  for (const bool causal : {false, true}) {
    measure<bfloat16>(causal);
    measure<float16>(causal);
  }
  end_json();
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
