// Measures lesson 04 on a GPU: safe_softmax against a device-to-device copy, for rows of several lengths, as
// JSON. Built with the kernel that is to be measured; the notes of the lesson have the commands.

#include <cstdint>
#include <cstdio>
#include <exception>

#include "04_safe_softmax/safe_softmax.hpp"
#include "bench/benchmark.hpp"

namespace {

constexpr std::int64_t kElements = std::int64_t{1} << 28;  // 1 GiB of x, far more than any cache holds

/// One row length: time, and bytes as if every one of the three passes went to memory.
void measure(const float* x, float* y, std::int64_t cols, double copy_rate, const char* end) {
  const std::int64_t rows = kElements / cols;
  const double ms =
      course::bench::median_milliseconds([&] { course::safe_softmax(x, cols, y, cols, rows, cols); });
  const double bytes = 4.0 * sizeof(float) * static_cast<double>(kElements), rate = bytes / ms * 1e-6;
  std::printf(
      "    {\"rows\": %lld, \"cols\": %lld, \"bytes\": %.0f, \"milliseconds\": %.4f, "
      "\"gigabytes_per_second\": %.1f, \"fraction_of_copy\": %.3f}%s\n",
      static_cast<long long>(rows), static_cast<long long>(cols), bytes, ms, rate, rate / copy_rate, end);
}

}  // namespace

int main() try {
  course::bench::DeviceArray x(kElements, 1), y(kElements, 2);
  const double copy_rate = course::bench::copy_gigabytes_per_second();
  course::bench::begin_json(4, copy_rate);
  std::printf("  \"elements\": %lld,\n  \"safe_softmax\": [\n", static_cast<long long>(kElements));
  for (std::int64_t cols = 256; cols < std::int64_t{1} << 20; cols *= 2)
    measure(x.data(), y.data(), cols, copy_rate, ",");
  measure(x.data(), y.data(), std::int64_t{1} << 20, copy_rate, "");
  std::printf("  ]\n");
  course::bench::end_json();
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
