#include "23_autotuning/candidates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "23_autotuning/configurations.hpp"
#include "23_autotuning/devices.hpp"
#include "23_autotuning/occupancy.hpp"
#include "23_autotuning/usage.hpp"
#include "grading/testing/lesson_test.hpp"
#include "tensor/tensor.hpp"

namespace course::lesson_23 {

using namespace grading;

namespace {

bool is_too_large(const Configuration& c, const ProblemSize& size) {
  return (c.rows > 2 * size.M && c.rows > kSmallestTile) || (c.cols > 2 * size.N && c.cols > kSmallestTile);
}

}  // namespace

std::vector<Configuration> candidates_of(const ProblemSize& size, const Device& device) {
  Tensor<int> found({kCompiledCount, kFields}), count({1});
  require_ran(call(ENTRY(call_configurations), size.M, size.N, size.K, static_cast<int>(size.type),
                   host_in(limits_of(device), "limits"), host_out(found, "found"), host_out(count, "count")));
  std::vector<Configuration> list;
  for (int i = 0; i < std::min(count(0), kCompiledCount); ++i) list.push_back(row_of(found, i));
  return list;
}

void check_candidates(const ProblemSize& size, const Device& device, const std::vector<int>& expected) {
  INFO(text_of(size) << "; device: " << device.name);
  const std::vector<Configuration> found = candidates_of(size, device);
  std::vector<Configuration> wanted;
  for (const int i : expected) wanted.push_back(kCompiled[i]);
  for (const Configuration& c : kCompiled) {
    require(!contains(found, c) || contains(wanted, c),
            c.type != size.type
                ? fmt::format("{} is among the configurations, though it is for another type.", text_of(c))
            : is_too_large(c, size)
                ? fmt::format("{} is among the configurations, though more than half of its tile lies "
                              "outside of C along one side.",
                              text_of(c))
                : fmt::format("{} is among the configurations, though the device does not hold even one "
                              "block of it.",
                              text_of(c)));
    require(contains(found, c) || !contains(wanted, c),
            fmt::format("{} is not among the configurations, though it runs on this device and its tile is "
                        "not too large.",
                        text_of(c)));
  }
  require(found == wanted, "The configurations are not in the order of kCompiled, or one is there twice.");
}

void check_random_candidates(Random& random, const ProblemSize& least, const ProblemSize& most) {
  const Device device = random_device(random);
  const ProblemSize size{random.integer(least.M, most.M), random.integer(least.N, most.N), 64,
                         drawn_type(random)};
  std::vector<int> expected;
  for (int i = 0; i < kCompiledCount; ++i) {
    const Configuration& c = kCompiled[i];
    if (c.type == size.type && !is_too_large(c, size) && blocks_of(usage_of_kernel(c), device) > 0)
      expected.push_back(i);
  }
  check_candidates(size, device, expected);
}

}  // namespace course::lesson_23
