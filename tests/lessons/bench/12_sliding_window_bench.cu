// Measures lesson 12 on a GPU: time for windows of several lengths, as JSON.
// Built with the kernel that is to be measured; the notes of the lesson have the commands.

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <exception>

#include "12_sliding_window/sliding_window.hpp"
#include "bench/attention_benchmark.hpp"

using namespace course::bench;

int main(int argc, char** argv) try {
  read_options(argc, argv);
  begin_json(12);
  begin_measurements("sliding_window_attention");
  for (const std::int64_t D : {64, 128}) {
    for (const std::int64_t N : {8192, 16384}) {
      for (const std::int64_t window : {256, 1024, 4096, 16384}) {
        if (window > N) continue;
        const AttentionSizes n = square(N, D);
        const Shape settings = Shape().size("window", window);
        if (!fits_attention<AttentionArrays>(n, settings)) continue;
        AttentionArrays x(n);
        measure_forward(n, pairs_in_window(N, window), settings, [&] {
          course::sliding_window_attention(x.Q(), x.K(), x.V(), x.O(), x.lse(), x.scale(), window);
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
