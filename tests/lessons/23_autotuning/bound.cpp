#include "23_autotuning/bound.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "23_autotuning/configurations.hpp"
#include "23_autotuning/products.hpp"
#include "grading/testing/lesson_test.hpp"
#include "products/problem.hpp"

namespace course::lesson_23 {

using namespace grading;

namespace {

/// @brief Cycles that a multiprocessor needs at least for what one block does: its four schedulers issue an
/// instruction of a warp a cycle each, its shared memory serves a wavefront a cycle, and its tensor cores do
/// 2048 multiply-adds.
double cycles_of(const Profile& block) {
  const std::uint64_t instructions = block.float_instructions + block.special_instructions +
                                     block.matrix_instructions + block.shared_load.requests +
                                     block.shared_store.requests + block.global_load.requests +
                                     block.global_store.requests + block.barriers;
  return std::max({static_cast<double>(instructions) / 4,
                   static_cast<double>(block.shared_load.wavefronts + block.shared_store.wavefronts),
                   static_cast<double>(block.matrix_float16) / 2048});
}

}  // namespace

std::vector<double> cycles_of_blocks(Type type, std::int64_t K) {
  std::vector<double> cycles(kCompiledCount, 0);
  for (std::size_t i = 0; i < cycles.size(); ++i) {
    const Configuration& c = kCompiled[i];
    if (c.type != type) continue;
    const Outcome outcome = check_product(products::random_problem(c.rows, c.cols, K), c);
    const Profile* profile = profile_of(outcome);
    if (!profile) return {};
    cycles[i] = cycles_of(*profile);
  }
  return cycles;
}

std::vector<double> bounds_of(const std::vector<double>& cycles, const ProblemSize& size,
                              const Device& device) {
  std::vector<double> costs;
  for (std::size_t i = 0; i < cycles.size(); ++i)
    costs.push_back(std::ceil(static_cast<double>(tiles_of(size, kCompiled[i])) / device.multiprocessors) *
                    cycles[i]);
  return costs;
}

}  // namespace course::lesson_23
