// Measures lesson 08 on a GPU: time and traffic with a block a head, as JSON.
// Built with the kernel that is to be measured; the notes of the lesson have the commands.

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <exception>

#include "08_flash1_forward/flash1_forward.hpp"
#include "bench/attention_benchmark.hpp"

using namespace course::bench;

int main(int argc, char** argv) try {
  read_options(argc, argv);
  begin_json(8);
  begin_measurements("flash1_forward");
  for (const std::int64_t D : {64, 128}) {
    for (const std::int64_t N : {1024, 2048, 4096, 8192}) {
      const AttentionSizes n = square(N, D);
      if (!fits_attention<AttentionArrays>(n)) continue;
      AttentionArrays x(n);
      measure_forward(
          n, static_cast<double>(N) * N, {},
          [&] { course::flash1_forward(x.Q(), x.K(), x.V(), x.O(), x.l(), x.lse(), x.scale()); }, 2);
    }
  }
  end_measurements();
  begin_measurements("more_heads");  // a block a head is all the parallelism
  for (const std::int64_t D : {64, 128}) {
    for (const std::int64_t H : {16, 33, 66, 132}) {
      constexpr std::int64_t N = 2048;
      const AttentionSizes n{4, H, H, N, N, D};
      if (!fits_attention<AttentionArrays>(n)) continue;
      AttentionArrays x(n);
      measure_forward(
          n, static_cast<double>(N) * N, {},
          [&] { course::flash1_forward(x.Q(), x.K(), x.V(), x.O(), x.l(), x.lse(), x.scale()); }, 2);
    }
  }
  end_measurements();
  end_json();
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
