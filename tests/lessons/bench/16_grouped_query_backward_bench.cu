// Measures lesson 16 on a GPU: time of the backward pass with 32 heads of Q and fewer of K and V, as JSON.
// Built with the kernel that is to be measured; docs/results/README.md has the commands.

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <exception>

#include "16_grouped_query_backward/grouped_query_backward.hpp"
#include "bench/attention_benchmark.hpp"

using namespace course::bench;

int main(int argc, char** argv) try {
  read_options(argc, argv);
  begin_json(16);
  constexpr std::int64_t kHeads = 32;
  const Shape causal = Shape().flag("causal", true);
  begin_measurements("grouped_query_backward");
  for (const std::int64_t D : {64, 128}) {
    for (const std::int64_t H_kv : {32, 8, 4, 1}) {
      const AttentionSizes n{2, kHeads, H_kv, 4096, 4096, D};
      if (!fits_attention<GradientArrays>(n, causal)) continue;
      GradientArrays x(n);
      measure_backward(n, pairs_in_window(n.Nk, n.Nk), causal, [&] {
        course::grouped_query_backward(x.Q(), x.K(), x.V(), x.O_read(), x.lse_read(), x.dO(), x.delta(),
                                       x.dQ(), x.dK(), x.dV(), x.scale(), true);
      });
    }
  }
  end_measurements();
  end_json();
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
