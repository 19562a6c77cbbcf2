#include "23_autotuning/search.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <stdexcept>

#include "23_autotuning/candidates.hpp"
#include "23_autotuning/devices.hpp"
#include "drawn/drawn.hpp"
#include "tensor/tensor.hpp"

namespace course::lesson_23 {

using namespace grading;

namespace {

constexpr double kNone[] = {kRefused, kNan, kInf};  ///< costs of kernels that do not run

/// The first candidate of least cost; -1 if none runs.
int least_of(const std::vector<double>& costs, const std::vector<Configuration>& candidates) {
  int least = -1;
  for (int i = 0; i < kCompiledCount; ++i) {
    const double cost = costs[static_cast<std::size_t>(i)];
    const bool may_be = std::isfinite(cost) && cost != kRefused && contains(candidates, kCompiled[i]);
    if (may_be && (least < 0 || cost < costs[static_cast<std::size_t>(least)])) least = i;
  }
  return least;
}

}  // namespace

Search search(const ProblemSize& size, const Device& device, std::vector<double> costs,
              const std::string& cache) {
  costs.resize(kCompiledCount, costs.back());
  Tensor<int> asked({kCompiledCount}), best({1, kFields});
  Tensor<char> text = buffer_of(cache), name = buffer_of(device.name);
  const Tensor<double> cost = Tensor<double>::from({kCompiledCount}, costs);
  Search result;
  result.outcome = call(ENTRY(call_best_configuration), size.M, size.N, size.K, static_cast<int>(size.type),
                        host_in(name, "device"), host_in(limits_of(device), "limits"), host_in(cost, "costs"),
                        host_out(asked, "asked"), host_out(best, "best"), host_inout(text, "cache"));
  result.best = row_of(best, 0);
  result.asked.assign(asked.storage().begin(), asked.storage().end());
  result.cache = text_in(text);
  return result;
}

std::vector<double> costs_with(double usual, std::vector<std::pair<int, double>> some) {
  std::vector<double> costs(kCompiledCount, usual);
  for (const auto& [index, cost] : some) costs[static_cast<std::size_t>(index)] = cost;
  return costs;
}

std::vector<double> drawn_costs(Random& random) {
  std::vector<double> costs;
  const double usual = drawn::factor(random, 30);
  const bool equal = random.integer(0, 1) == 1;
  for (int i = 0; i < kCompiledCount; ++i)
    costs.push_back(random.integer(0, 3) == 0 ? drawn_none(random)
                                              : usual * (1 + (equal ? 0 : random.uniform() / 10)));
  return costs;
}

double drawn_none(Random& random) { return kNone[random.integer(0, std::ssize(kNone) - 1)]; }

std::size_t drawn_candidate(const ProblemSize& size, const Device& device, Random& random) {
  const std::vector<Configuration> candidates = candidates_of(size, device);
  if (candidates.empty()) return 0;
  return place_of(candidates[static_cast<std::size_t>(random.integer(0, std::ssize(candidates) - 1))]);
}

std::string describe(const std::vector<double>& costs) {
  std::string text = "costs:";
  for (const double cost : costs)
    text += cost == kRefused       ? " refused"
            : cost == kBroken      ? " broken"
            : cost == kOutOfMemory ? " out of memory"
                                   : fmt::format(" {}", cost);
  return text;
}

void require_best(const Search& found, const Configuration& wanted) {
  require(found.best == wanted,
          fmt::format("The result is {}, expected {}.", text_of(found.best), text_of(wanted)));
}

void require_asked_once(const Search& found, const std::vector<Configuration>& candidates) {
  for (int i = 0; i < kCompiledCount; ++i) {
    const Configuration& c = kCompiled[i];
    const int asked = found.asked[static_cast<std::size_t>(i)] % kTooLate;
    require(found.asked[static_cast<std::size_t>(i)] == asked,
            fmt::format("The cost of {} was asked for after that of a later one: configurations are tried in "
                        "their order.",
                        text_of(c)));
    const int wanted = contains(candidates, c);
    require(asked == wanted,
            fmt::format("The cost of {} was asked for {} times, not {}: {}", text_of(c), asked, wanted,
                        wanted == 0 ? "it is none of configurations()."
                        : asked > 1 ? "measuring is what costs time, so once has to do."
                                    : "each of configurations() has to be tried."));
  }
}

void require_not_asked(const Search& found) {
  require(std::count(found.asked.begin(), found.asked.end(), 0) == kCompiledCount,
          "The cache has the answer, and yet the cost was asked for.");
}

void require_cache(const Search& found, const std::string& lines) {
  require(found.cache == cache_text(lines),
          fmt::format("The cache is then\n{}and should be\n{}", found.cache, cache_text(lines)));
}

void check_search(const ProblemSize& size, const Device& device, const std::vector<double>& costs,
                  int wanted) {
  INFO(text_of(size) << "; " << describe(costs));
  const Search found = search(size, device, costs);
  require_ran(found.outcome);
  require_best(found, kCompiled[wanted]);
  require_asked_once(found, candidates_of(size, device));
}

void check_search_or_none(const ProblemSize& size, const Device& device, const std::vector<double>& costs) {
  const int least = least_of(costs, candidates_of(size, device));
  if (least >= 0) return check_search(size, device, costs, least);
  check_no_search<std::runtime_error>(size, device, costs);
}

void check_drawn_search(Type type, Random& random) {
  Device device = kH100;
  if (random.integer(0, 1) == 1) device.name += ' ';  // another name
  const auto length = [&] { return random.integer(32, 9000); };
  const ProblemSize size{length(), length(), length(), type};
  const std::vector<double> costs = drawn_costs(random);
  Cache cache = drawn_cache(random);
  const int least = least_of(costs, candidates_of(size, kH100));
  if (least < 0) return;
  INFO("All of this is drawn: " << text_of(size) << "; " << describe(costs));
  const auto check_found = [&](const Search& found) {
    require_ran(found.outcome);
    require_best(found, kCompiled[least]);
    require_cache(found, lines_of(cache));
  };
  const std::string before = cache_text(lines_of(cache));
  cache[{device.name, size}] = kCompiled[least];
  const Search found = search(size, device, costs, before);
  check_found(found);
  require_asked_once(found, candidates_of(size, kH100));
  const Search again = search(size, device, costs_with(1, {}), cache_text(lines_of(cache)));
  check_found(again);
  require_not_asked(again);
}

void check_drawn_entry(Random& random) {
  Device device = random_device(random);
  const std::string limits = device.name;
  device.name = kH100.name;
  const ProblemSize size = drawn_size(random, 20, 300);
  const std::vector<Configuration> candidates = candidates_of(size, device);
  const std::vector<double> costs = drawn_costs(random);
  const int least = least_of(costs, candidates);
  for (const Configuration& known : kCompiled) {
    if (known.type != size.type || least < 0) continue;
    const bool may_be_given = contains(candidates, known);
    const Configuration& wanted = may_be_given ? known : kCompiled[least];
    INFO("The device: " << limits << "; " << text_of(size) << "; " << describe(costs) << "; the cache has "
                        << text_of(known));
    const Search found = search(size, device, costs, cache_text(lines_of({{{device.name, size}, known}})));
    require_ran(found.outcome);
    require_best(found, wanted);
    require_asked_once(found, may_be_given ? std::vector<Configuration>{} : candidates);
    require_cache(found, lines_of({{{device.name, size}, wanted}}));
  }
}

}  // namespace course::lesson_23
