// Measures lesson 05 on a GPU: both entries against a device-to-device copy, for rows of several lengths, as
// JSON. Built with the kernel that is to be measured; the notes of the lesson have the commands.

#include <cstdint>
#include <cstdio>
#include <exception>

#include "05_online_softmax/online_softmax.hpp"
#include "bench/benchmark.hpp"

int main(int argc, char** argv) try {
  course::bench::read_options(argc, argv);
  using namespace course;
  const double copy_rate = bench::copy_gigabytes_per_second();
  const std::int64_t elements = bench::elements_that_fit(2.0625);
  bench::DeviceArray x(elements, 1), y(elements, 2), max(elements / 32, 3), sum(elements / 32, 4);
  const auto x_bytes = static_cast<double>(static_cast<std::size_t>(elements) * sizeof(float));
  bench::begin_json(5, copy_rate);
  std::printf("  \"elements\": %lld,\n  \"online_softmax\": [", static_cast<long long>(elements));
  const char* separator = "";
  for (const std::int64_t cols : {32, 256, 1024, 4096, 8192, 16384, 65536, 262144, 1048576}) {
    const std::int64_t rows = elements / cols;
    const auto shape = bench::Shape().size("rows", rows).size("cols", cols);
    if (!bench::wanted("online_softmax", shape)) continue;
    const bench::Timing stats =
        bench::time_calls([&] { row_stats(x.data(), cols, max.data(), sum.data(), rows, cols); });
    const bench::Timing softmax =
        bench::time_calls([&] { online_softmax(x.data(), cols, y.data(), cols, rows, cols); });
    const double stats_ms = stats.milliseconds, ms = softmax.milliseconds;
    const double bytes = 3 * x_bytes;  // x twice, y once; short rows find x in a cache the second time
    const double stats_bytes = x_bytes + 8.0 * static_cast<double>(rows);
    std::printf(
        "%s\n    {\"rows\": %lld, \"cols\": %lld, \"bytes\": %.0f, \"milliseconds\": %.4f, "
        "\"gigabytes_per_second\": %.1f, \"fraction_of_copy\": %.3f, \"row_stats_milliseconds\": %.4f, "
        "\"row_stats_fraction_of_copy\": %.3f}",
        separator, static_cast<long long>(rows), static_cast<long long>(cols), bytes, ms, bytes / ms * 1e-6,
        bytes / ms * 1e-6 / copy_rate, stats_ms, stats_bytes / stats_ms * 1e-6 / copy_rate);
    separator = ",";
    // Of an element: a comparison, a difference, an exponential and a sum; for the softmax a product, too.
    bench::record("row_stats", shape, stats, x_bytes, stats_bytes);
    bench::record("online_softmax", shape, softmax, 5 * x_bytes / 4, 2 * x_bytes);
  }
  std::printf("\n  ],\n");
  bench::end_json();
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
