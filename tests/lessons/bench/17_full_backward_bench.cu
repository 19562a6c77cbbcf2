// Measures lesson 17 on a GPU: time of both passes, with the masks of the course, as JSON. From the project's
// folder:
//
//   nvcc -std=c++20 -O3 -arch=native -I common -I lessons -I lessons/17_full_backward -I tests/lessons
//     -o backward_bench tests/lessons/bench/17_full_backward_bench.cu
//     solutions/17_full_backward/full_backward.cu

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <limits>

#include "17_full_backward/full_backward.hpp"
#include "bench/attention_benchmark.hpp"

using namespace course::bench;

namespace {

constexpr std::int64_t kAllKeys = std::numeric_limits<std::int64_t>::max();

struct Setting {
  AttentionSizes n;
  bool causal;
  std::int64_t window, sinks;
  bool learned;

  double pairs() const {
    if (!causal) return static_cast<double>(n.Nq) * static_cast<double>(n.Nk);
    const std::int64_t beyond =
        window < n.Nk ? n.Nk - window : 0;  // queries whose window has left the sinks behind
    return pairs_in_window(n.Nk, window) + static_cast<double>(sinks) * static_cast<double>(beyond);
  }

  Shape shape() const {
    Shape shape = Shape().flag("causal", causal);
    if (window < n.Nk)
      shape.size("window", window);
    else
      shape.none("window");
    return shape.size("sinks", sinks).flag("learned", learned);
  }
};

}  // namespace

int main(int argc, char** argv) try {
  read_options(argc, argv);
  const Setting settings[] = {
      {square(4096, 64), true, kAllKeys, 0, false},
      {square(4096, 64), false, kAllKeys, 0, false},
      {square(4096, 128), true, kAllKeys, 0, false},
      {square(4096, 128), false, kAllKeys, 0, false},
      {{4, 16, 4, 4096, 4096, 64}, true, kAllKeys, 0, false},
      {square(16384, 64), true, kAllKeys, 0, false},
      {square(16384, 64), true, 256, 0, false},
      {square(16384, 64), true, 256, 4, false},
      {square(16384, 64), true, 256, 4, true},
  };
  begin_json(17);
  for (const bool backward : {false, true}) {
    begin_measurements(backward ? "attention_backward" : "attention_forward");
    for (const Setting& s : settings) {
      if (!fits_attention<GradientArrays>(s.n, s.shape())) continue;
      GradientArrays x(s.n);
      DeviceArray logits(s.n.H, 12), dlogits(s.n.H, 13);
      const float* sink = s.learned ? logits.data() : nullptr;
      float* dsink = s.learned ? dlogits.data() : nullptr;
      const auto forward = [&] {
        course::attention_forward(x.Q(), x.K(), x.V(), sink, x.O(), x.lse(), x.scale(), s.causal, s.window,
                                  s.sinks);
      };
      const auto gradients = [&] {
        course::attention_backward(x.Q(), x.K(), x.V(), sink, x.O_read(), x.lse_read(), x.dO(), x.delta(),
                                   x.dQ(), x.dK(), x.dV(), dsink, x.scale(), s.causal, s.window, s.sinks);
      };
      forward();  // O and lse for the backward pass
      if (backward)
        measure_backward(s.n, s.pairs(), s.shape(), gradients);
      else
        measure_forward(s.n, s.pairs(), s.shape(), forward);
    }
    end_measurements();
  }
  end_json();
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
