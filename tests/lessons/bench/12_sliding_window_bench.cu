// Measures lesson 12 on a GPU: time for windows of several lengths, as JSON.
// Built with the kernel that is to be measured; the notes of the lesson have the commands.

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>

#include "12_sliding_window/sliding_window.hpp"
#include "bench/attention_benchmark.hpp"

using namespace course::bench;

int main() try {
  begin_json(12);
  begin_measurements("sliding_window_attention");
  bool first = true;
  for (const std::int64_t D : {64, 128}) {
    for (const std::int64_t N : {8192, 16384}) {
      for (const std::int64_t window : {256, 1024, 4096, 16384}) {
        if (window > N) continue;
        const AttentionSizes n = square(N, D);
        AttentionArrays x(n);
        const std::string settings = "\"window\": " + std::to_string(window) + ", ";
        measure_attention(n, pairs_in_window(N, window), bytes_of_results(n), settings, first, [&] {
          course::sliding_window_attention(x.Q(), x.K(), x.V(), x.O(), x.lse(), x.scale(), window);
        });
        first = false;
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
