// Measures lesson 04 on a GPU: safe_softmax against a device-to-device copy, for rows of several lengths, as
// JSON. Built with the kernel that is to be measured; the notes of the lesson have the commands.

#include <cstdint>
#include <cstdio>
#include <exception>

#include "04_safe_softmax/safe_softmax.hpp"
#include "bench/benchmark.hpp"

namespace {

/// One row length: time, and bytes as if every one of the three passes went to memory. `separator` stands
/// before its line, then "," before the next.
void measure(const float* x, float* y, std::int64_t elements, std::int64_t cols, double copy_rate,
             const char*& separator) {
  const std::int64_t rows = elements / cols;
  const auto shape = course::bench::Shape().size("rows", rows).size("cols", cols);
  if (!course::bench::wanted("safe_softmax", shape)) return;
  const course::bench::Timing timing =
      course::bench::time_calls([&] { course::safe_softmax(x, cols, y, cols, rows, cols); });
  const double ms = timing.milliseconds;
  const double bytes = 4.0 * sizeof(float) * static_cast<double>(elements), rate = bytes / ms * 1e-6;
  std::printf(
      "%s\n    {\"rows\": %lld, \"cols\": %lld, \"bytes\": %.0f, \"milliseconds\": %.4f, "
      "\"gigabytes_per_second\": %.1f, \"fraction_of_copy\": %.3f}",
      separator, static_cast<long long>(rows), static_cast<long long>(cols), bytes, ms, rate,
      rate / copy_rate);
  separator = ",";
  // x once and y once; of an element: a comparison, a difference, an exponential, a sum and a product.
  const double n = static_cast<double>(elements);
  course::bench::record("safe_softmax", shape, timing, 5 * n, 8 * n);
}

}  // namespace

int main(int argc, char** argv) try {
  course::bench::read_options(argc, argv);
  const double copy_rate = course::bench::copy_gigabytes_per_second();
  const std::int64_t elements = course::bench::elements_that_fit(2);
  course::bench::DeviceArray x(elements, 1), y(elements, 2);
  course::bench::begin_json(4, copy_rate);
  std::printf("  \"elements\": %lld,\n  \"safe_softmax\": [", static_cast<long long>(elements));
  const char* separator = "";
  for (std::int64_t cols = 256; cols <= std::int64_t{1} << 20; cols *= 2)
    measure(x.data(), y.data(), elements, cols, copy_rate, separator);
  std::printf("\n  ],\n");
  course::bench::end_json();
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
