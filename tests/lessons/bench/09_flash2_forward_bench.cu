// Measures lesson 09 on a GPU: time and memory, as JSON.
// Built with the kernel that is to be measured; the notes of the lesson have the commands.

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <exception>

#include "09_flash2_forward/flash2_forward.hpp"
#include "bench/attention_benchmark.hpp"

using namespace course::bench;

int main(int argc, char** argv) try {
  read_options(argc, argv);
  begin_json(9);
  begin_measurements("flash2_forward");
  for (const std::int64_t D : {64, 128}) {
    for (const std::int64_t N : {1024, 2048, 4096, 8192, 16384}) {
      const AttentionSizes n = square(N, D);
      if (!fits_attention<AttentionArrays>(n)) continue;
      AttentionArrays x(n);
      measure_forward(n, static_cast<double>(N) * N, {},
                      [&] { course::flash2_forward(x.Q(), x.K(), x.V(), x.O(), x.lse(), x.scale()); });
    }
  }
  end_measurements();
  end_json();
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
