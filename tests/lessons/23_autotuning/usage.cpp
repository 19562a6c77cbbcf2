#include "23_autotuning/usage.hpp"

#include <cstddef>
#include <cstdint>

#include "grading/testing/lesson_test.hpp"
#include "tensor/tensor.hpp"

namespace course::lesson_23 {

using namespace grading;

namespace {

Tensor<int> rows_of(const std::vector<Configuration>& list) {
  Tensor<int> rows({static_cast<std::int64_t>(list.size()), kFields});
  for (std::size_t i = 0; i < list.size(); ++i) write_row(list[i], &rows(static_cast<std::int64_t>(i), 0));
  return rows;
}

}  // namespace

Usage usage_of_kernel(const Configuration& c, int padding) {
  const bool float32 = c.type == Type::float32;
  const int sums = c.rows * c.cols / (32 * c.warps);
  return {32 * c.warps,
          float32       ? 64 + sums
          : sums == 128 ? 255
          : sums == 64  ? 168
                        : 128,
          c.stages * c.depth * (float32 ? 4 * (c.rows + c.cols + padding) : 2 * (c.rows + c.cols))};
}

void check_usages(const std::vector<Configuration>& all) {
  const auto count = static_cast<std::int64_t>(all.size());
  Tensor<int> usages({count, 3});
  require_ran(call(ENTRY(call_usage_of), host_in(rows_of(all), "configurations"), host_out(usages, "usages"),
                   static_cast<int>(count)));
  Tensor<double> expected({count, 3});
  const auto fill = [&](Tensor<double>& x, int padding, bool stages, bool as_float32 = false) {
    for (std::int64_t i = 0; i < count; ++i) {
      Configuration c = all[static_cast<std::size_t>(i)];
      if (as_float32) c.type = Type::float32;
      if (!stages) c.stages = 1;
      const Usage usage = usage_of_kernel(c, padding);
      x(i, 0) = usage.threads, x(i, 1) = usage.registers, x(i, 2) = usage.shared_bytes;
    }
  };
  fill(expected, 8, true);
  const auto filled_with = [&](int padding, bool stages) {
    Tensor<double> x({count, 3});
    fill(x, padding, stages);
    return x;
  };
  require_matches(
      usages.to<float>(), ArrayName("usage", {"configuration", "number"}), expected, expected.to<float>(),
      {gives(
           "padding_forgotten", [&] { return filled_with(0, true); },
           "Each step of k has 4 floats of padding, in the slab of A and in that of B."),
       gives(
           "padding_once", [&] { return filled_with(4, true); },
           "Each step of k has 4 floats of padding in the slab of A, and 4 in that of B."),
       gives(
           "one_stage", [&] { return filled_with(8, false); }, "Each stage has a slab of A and one of B."),
       gives(
           "types_alike",
           [&] {
             Tensor<double> x({count, 3});
             fill(x, 8, true, true);
             return x;
           },
           "A kernel for bfloat16 takes what one for float32 would: its numbers have 2 bytes, without "
           "padding, and its registers are those of tensor_core_matmul.hpp.")});
}

}  // namespace course::lesson_23
