// Measures lesson 18 on a GPU: time of both passes with dropout and without, as JSON.
// Built with the kernel that is to be measured; docs/results/README.md has the commands.

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <limits>

#include "18_dropout/dropout.hpp"
#include "bench/attention_benchmark.hpp"

using namespace course::bench;

namespace {

constexpr std::int64_t kAllKeys = std::numeric_limits<std::int64_t>::max();
constexpr std::uint64_t kSeed = 18;

void measure(std::int64_t D, bool causal, float dropout, bool backward) {
  constexpr std::int64_t N = 4096;
  const AttentionSizes n = square(N, D);
  const Shape settings = Shape().flag("causal", causal).fraction("dropout", dropout);
  if (!fits_attention<GradientArrays>(n, settings)) return;
  GradientArrays x(n);
  const double pairs = causal ? pairs_in_window(N, N) : static_cast<double>(N) * static_cast<double>(N);
  const auto forward = [&] {
    course::attention_forward(x.Q(), x.K(), x.V(), nullptr, x.O(), x.lse(), x.scale(), causal, kAllKeys, 0,
                              dropout, kSeed);
  };
  if (!backward) return measure_forward(n, pairs, settings, forward);
  forward();  // O and lse for the backward pass
  measure_backward(n, pairs, settings, [&] {
    course::attention_backward(x.Q(), x.K(), x.V(), nullptr, x.O_read(), x.lse_read(), x.dO(), x.delta(),
                               x.dQ(), x.dK(), x.dV(), nullptr, x.scale(), causal, kAllKeys, 0, dropout,
                               kSeed);
  });
}

}  // namespace

int main(int argc, char** argv) try {
  read_options(argc, argv);
  begin_json(18);
  for (const bool backward : {false, true}) {
    begin_measurements(backward ? "attention_backward" : "attention_forward");
    for (const std::int64_t D : {64, 128})
      for (const bool causal : {true, false})
        for (const float dropout : {0.0f, 0.1f}) measure(D, causal, dropout, backward);
    end_measurements();
  }
  end_json();
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
