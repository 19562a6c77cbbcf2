// Measures lesson 19 on a GPU: time with the causal mask and without, as JSON.
// Built with the kernel that is to be measured; the notes of the lesson have the commands.

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <exception>

#include "19_register_tiling/register_tiling.hpp"
#include "bench/attention_benchmark.hpp"

using namespace course::bench;

int main(int argc, char** argv) try {
  read_options(argc, argv);
  begin_json(19);
  for (const bool causal : {false, true}) {
    begin_measurements(causal ? "flash2_forward_fast_causal" : "flash2_forward_fast");
    for (const std::int64_t D : {64, 128}) {
      for (const std::int64_t N : {1024, 2048, 4096, 8192, 16384}) {
        const AttentionSizes n = square(N, D);
        if (!fits_attention<AttentionArrays>(n)) continue;
        AttentionArrays x(n);
        const double pairs = causal ? pairs_in_window(N, N) : static_cast<double>(N) * N;
        measure_forward(n, pairs, {}, [&] {
          course::flash2_forward_fast(x.Q(), x.K(), x.V(), x.O(), x.lse(), x.scale(), causal);
        });
      }
    }
    end_measurements();
  }
  end_json();
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
