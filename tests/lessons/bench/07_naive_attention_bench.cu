// Measures lesson 07 on a GPU: time, traffic and memory of attention with S and P in global memory, as JSON.
// Built with the kernel that is to be measured; the notes of the lesson have the commands.

#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>

#include "07_naive_attention/naive_attention.hpp"
#include "bench/benchmark.hpp"

namespace {

using course::View;

constexpr std::int64_t kBatches = 4, kHeads = 16;

/// A contiguous (kBatches, kHeads, rows, cols) view.
template <class T>
View<T, 4> view_of(T* data, std::int64_t rows, std::int64_t cols) {
  return {data, {kBatches, kHeads, rows, cols}, {kHeads * rows * cols, rows * cols, cols, 1}};
}

void measure(std::int64_t N, std::int64_t D, double copy_rate, bool& first) {
  const std::int64_t rows = kBatches * kHeads * N;
  course::bench::Shape shape;
  shape.size("B", kBatches).size("H", kHeads).size("N", N).size("D", D);
  shape.labelled("N=" + std::to_string(N) + " D=" + std::to_string(D) + " H=" + std::to_string(kHeads));
  if (!course::bench::wanted("naive_attention", shape)) return;
  if (!course::bench::fits("naive_attention", shape, 4.0 * static_cast<double>(rows * (4 * D + 2 * N))))
    return;
  course::bench::DeviceArray Q(rows * D, 1), K(rows * D, 2), V(rows * D, 3), O(rows * D, 4);
  course::bench::DeviceArray S(rows * N, 5), P(rows * N, 6);
  const float scale = 1.0f / std::sqrt(static_cast<float>(D));
  const course::bench::Timing timing = course::bench::time_calls(
      [&] {
        course::naive_attention(view_of<const float>(Q.data(), N, D), view_of<const float>(K.data(), N, D),
                                view_of<const float>(V.data(), N, D), view_of(S.data(), N, N),
                                view_of(P.data(), N, N), view_of(O.data(), N, D), scale);
      },
      N > 4096 ? 7 : 20);
  const double ms = timing.milliseconds;
  // Bytes that have to move if S and P lie in global memory: S is written and read, P is written and read
  // (the second time that the softmax needs a row of S, it is in a cache). Beside them, Q, K, V and O once
  // each.
  const double square_bytes = 4.0 * static_cast<double>(rows * N),
               linear_bytes = 4.0 * static_cast<double>(rows * D);
  const double bytes = 4 * square_bytes + 4 * linear_bytes;
  const double operations = 4.0 * static_cast<double>(rows) * static_cast<double>(N * D);
  std::printf(
      "%s    {\"N\": %lld, \"D\": %lld, \"milliseconds\": %.4f, \"S_and_P_bytes\": %.0f, \"QKVO_bytes\": "
      "%.0f, \"moved_bytes\": %.0f, \"milliseconds_to_move\": %.4f, \"teraflops\": %.2f}",
      first ? "" : ",\n", static_cast<long long>(N), static_cast<long long>(D), ms, 2 * square_bytes,
      4 * linear_bytes, bytes, bytes / copy_rate * 1e-6, operations / ms * 1e-9);
  first = false;
  course::bench::record("naive_attention", shape, timing, operations, bytes);
}

}  // namespace

int main(int argc, char** argv) try {
  course::bench::read_options(argc, argv);
  const double copy_rate = course::bench::copy_gigabytes_per_second();
  course::bench::begin_json(7, copy_rate);
  std::printf("  \"batches\": %lld,\n  \"heads\": %lld,\n  \"naive_attention\": [\n",
              static_cast<long long>(kBatches), static_cast<long long>(kHeads));
  bool first = true;
  for (const std::int64_t D : {64, 128}) {
    for (const std::int64_t N : {1024, 2048, 4096, 8192}) measure(N, D, copy_rate, first);
  }
  std::printf("\n  ],\n");
  course::bench::end_json();
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
