// Measures lesson 11 on a GPU: time with 32 heads of Q and fewer of K and V, for many queries and for one, as
// JSON. Built with the kernel that is to be measured; the notes of the lesson have the commands.

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <exception>

#include "11_grouped_query/grouped_query.hpp"
#include "bench/attention_benchmark.hpp"

using namespace course::bench;

int main(int argc, char** argv) try {
  read_options(argc, argv);
  begin_json(11);
  constexpr std::int64_t kHeads = 32;
  const Shape causal = Shape().flag("causal", true);
  for (const bool decoding : {false, true}) {
    begin_measurements(decoding ? "one_query" : "many_queries");
    for (const std::int64_t D : {64, 128}) {
      for (const std::int64_t H_kv : {32, 8, 4, 1}) {
        const AttentionSizes n = decoding ? AttentionSizes{16, kHeads, H_kv, 1, 8192, D}
                                          : AttentionSizes{2, kHeads, H_kv, 4096, 4096, D};
        if (!fits_attention<AttentionArrays>(n, causal)) continue;
        AttentionArrays x(n);
        const double pairs = decoding ? static_cast<double>(n.Nk) : pairs_in_window(n.Nk, n.Nk);
        measure_forward(n, pairs, causal, [&] {
          course::grouped_query_attention(x.Q(), x.K(), x.V(), x.O(), x.lse(), x.scale(), true);
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
