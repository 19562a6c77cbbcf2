// Measures lesson 13 on a GPU: time with sink tokens and learned sinks beside a window, as JSON.
// Built with the kernel that is to be measured; the notes of the lesson have the commands.

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <exception>

#include "13_attention_sinks/attention_sinks.hpp"
#include "bench/attention_benchmark.hpp"

using namespace course::bench;

int main(int argc, char** argv) try {
  read_options(argc, argv);
  begin_json(13);
  constexpr std::int64_t kWindow = 256;
  begin_measurements("attention_with_sinks");
  for (const std::int64_t D : {64, 128}) {
    const AttentionSizes n = square(16384, D);
    if (!fits_attention<AttentionArrays>(n)) continue;
    AttentionArrays x(n);
    DeviceArray logits(n.H, 7);
    for (const bool learned : {false, true}) {
      for (const std::int64_t sinks : {0, 4, 64}) {
        const Shape settings = Shape().size("window", kWindow).size("sinks", sinks).flag("learned", learned);
        const double pairs =
            pairs_in_window(n.Nk, kWindow) + static_cast<double>(sinks) * static_cast<double>(n.Nq - kWindow);
        measure_forward(n, pairs, settings, [&] {
          course::attention_with_sinks(x.Q(), x.K(), x.V(), learned ? logits.data() : nullptr, x.O(), x.lse(),
                                       x.scale(), kWindow, sinks);
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
