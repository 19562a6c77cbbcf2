#pragma once
/// @file
/// Searches for the best configuration, with made-up and drawn costs and beside a cache.

#include <fmt/format.h>

#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "23_autotuning/autotuning.hpp"
#include "23_autotuning/cache.hpp"
#include "23_autotuning/configurations.hpp"
#include "grading/testing/lesson_test.hpp"
#include "tensor/random.hpp"

namespace course::lesson_23 {

inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// What a search has found.
struct Search {
  grading::Outcome outcome;
  Configuration best{};
  std::vector<int> asked;  ///< of each of kCompiled, how often
  std::string cache;       ///< as text, after the search
};

Search search(const ProblemSize& size, const Device& device, std::vector<double> costs,
              const std::string& cache = "");

/// Costs of kCompiled: `usual`, but for some. Of shorter lists, the last counts for the rest.
std::vector<double> costs_with(double usual, std::vector<std::pair<int, double>> some);

/// Of any size and sign, but close together or equal; some kernels do not run.
std::vector<double> drawn_costs(Random& random);

/// The cost of a kernel that does not run.
double drawn_none(Random& random);

/// One of the candidates; the first kernel if there is none.
std::size_t drawn_candidate(const ProblemSize& size, const Device& device, Random& random);

std::string describe(const std::vector<double>& costs);

void require_best(const Search& found, const Configuration& wanted);
void require_asked_once(const Search& found, const std::vector<Configuration>& candidates);
void require_not_asked(const Search& found);
void require_cache(const Search& found, const std::string& lines);

/// The search has found kCompiled[wanted], and asked once for the cost of each candidate.
void check_search(const ProblemSize& size, const Device& device, const std::vector<double>& costs,
                  int wanted);

/// The search ends with this exception, and leaves in the cache what is there.
template <class Exception>
void check_no_search(const ProblemSize& size, const Device& device, const std::vector<double>& costs,
                     const std::string& lines = "float32 128 64 16 4 3 4096 4096 4096 another device\n") {
  INFO("The device is " << device.name << "; " << text_of(size) << "; " << describe(costs));
  const std::string before = cache_text(lines);
  const Search found = search(size, device, costs, before);
  grading::require_throws<Exception>(found.outcome);
  grading::require(found.cache == before,
                   fmt::format("The search has found nothing, but the cache is then\n{}and was before\n{}",
                               found.cache, before));
}

/// Of costs, sizes and limits that nobody knows beforehand.
void check_search_or_none(const ProblemSize& size, const Device& device, const std::vector<double>& costs);

/// Searches beside a cache of which all is drawn, and once more with what is found.
void check_drawn_search(Type type, Random& random);

/// Searches beside an entry of the same name and size, which may not be given if it is none of the
/// candidates.
void check_drawn_entry(Random& random);

}  // namespace course::lesson_23
