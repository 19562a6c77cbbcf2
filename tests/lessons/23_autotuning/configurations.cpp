#include "23_autotuning/configurations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "grading/testing/case.hpp"

namespace course::lesson_23 {

using namespace grading;

namespace {

const char* name_of(Type type) { return type == Type::float32 ? "float32" : "bfloat16"; }

}  // namespace

std::string text_of(const Configuration& c) {
  return fmt::format("{} {} {} {} {} {}", name_of(c.type), c.rows, c.cols, c.depth, c.warps, c.stages);
}

std::string text_of(const ProblemSize& size) {
  return fmt::format("M = {}, N = {}, K = {}, {}", size.M, size.N, size.K, name_of(size.type));
}

Configuration row_of(const Tensor<int>& rows, std::int64_t i) { return read_row(&rows(i, 0)); }

bool contains(std::span<const Configuration> list, const Configuration& c) {
  return std::find(list.begin(), list.end(), c) != list.end();
}

std::size_t place_of(const Configuration& c) {
  return static_cast<std::size_t>(std::find(std::begin(kCompiled), std::end(kCompiled), c) -
                                  std::begin(kCompiled));
}

std::int64_t tiles_of(const ProblemSize& size, const Configuration& c) {
  return ((size.M + c.rows - 1) / c.rows) * ((size.N + c.cols - 1) / c.cols);
}

Type drawn_type(Random& random) { return random.integer(0, 1) == 0 ? Type::float32 : Type::bfloat16; }

ProblemSize drawn_size(Random& random, std::int64_t least, std::int64_t most) {
  const auto length = [&] { return random.integer(least, most); };
  return {length(), length(), length(), drawn_type(random)};
}

std::size_t random_index(Type type, Random& random) {
  for (;;)
    if (const auto index = static_cast<std::size_t>(random.integer(0, kCompiledCount - 1));
        kCompiled[index].type == type)
      return index;
}

Configuration unknown_configuration(Type type, Random& random) {
  constexpr int Configuration::*kNumbers[] = {&Configuration::rows, &Configuration::cols,
                                              &Configuration::depth, &Configuration::warps,
                                              &Configuration::stages};
  for (;;) {
    Configuration c = kCompiled[random_index(type, random)];
    int& number = c.*kNumbers[random.integer(0, std::ssize(kNumbers) - 1)];
    number = random.integer(0, 1) == 0 ? 2 * number : number + 1;
    if (!contains(kCompiled, c)) return c;
  }
}

std::vector<Configuration> other_configurations() {
  constexpr std::size_t kCount = 20;
  Random random(case_seed());
  std::vector<Configuration> all;
  while (all.size() < kCount) {
    const auto power = [&](int least, int most) { return 1 << random.integer(least, most); };
    const Type type = drawn_type(random);
    const Configuration c{
        power(5, 8), power(5, 8), power(3, 6), power(0, 3), static_cast<int>(random.integer(2, 5)), type};
    const int sums = c.rows * c.cols / (32 * c.warps);  // what a thread's registers hold
    if (sums == 32 || sums == 64 || sums == (type == Type::float32 ? 16 : 128)) all.push_back(c);
  }
  return all;
}

}  // namespace course::lesson_23
