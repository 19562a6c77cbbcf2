// Measures lesson 15 on a GPU: time of the backward pass, as JSON. Operations are those of the five products
// that a backward pass cannot do without; this one makes seven. From the project's folder:
//
//   nvcc -std=c++20 -O3 -arch=native -I common -I lessons -I lessons/15_flash2_backward -I tests/lessons
//     -o backward_bench tests/lessons/bench/15_flash2_backward_bench.cu
//     solutions/15_flash2_backward/flash2_backward.cu

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <exception>

#include "15_flash2_backward/flash2_backward.hpp"
#include "bench/attention_benchmark.hpp"

using namespace course::bench;

int main(int argc, char** argv) try {
  read_options(argc, argv);
  begin_json(15);
  begin_measurements("flash2_backward");
  for (const std::int64_t D : {64, 128}) {
    for (const std::int64_t N : {1024, 2048, 4096, 8192}) {
      const AttentionSizes n = square(N, D);
      if (!fits_attention<GradientArrays>(n)) continue;
      GradientArrays x(n);
      for (const bool causal : {false, true}) {
        const double pairs = causal ? pairs_in_window(N, N) : static_cast<double>(N) * static_cast<double>(N);
        measure_backward(n, pairs, Shape().flag("causal", causal), [&] {
          course::flash2_backward(x.Q(), x.K(), x.V(), x.O_read(), x.lse_read(), x.dO(), x.delta(), x.dQ(),
                                  x.dK(), x.dV(), x.scale(), causal);
        });
      }
    }
  }
  end_measurements();
  end_json();
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
