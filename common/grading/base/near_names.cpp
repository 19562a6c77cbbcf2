#include "grading/base/near_names.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "grading/base/edit_distance.hpp"

namespace course::grading {
namespace {

constexpr std::size_t kGuesses = 3;

/// The distance to a name or, as one more, to the words that it begins with: "uninitialized" comes near
/// uninitialised_read.
std::size_t distance_to(std::string_view word, std::string_view name) {
  std::size_t least = edit_distance(word, name);
  for (std::size_t end = 0; (end = name.find('_', end)) != std::string_view::npos; ++end)
    least = std::min(least, edit_distance(word, name.substr(0, end)) + 1);
  return least;
}

}  // namespace

std::string near_names(std::string_view word, const std::vector<Candidate>& candidates) {
  std::vector<std::pair<std::size_t, std::string>> near;
  for (const auto& [name, shown] : candidates) {
    const bool contains = word.size() >= 3 && shown.find(word) != std::string::npos;
    near.emplace_back(contains ? 0 : distance_to(word, name), shown);
  }
  const std::size_t limit = std::max<std::size_t>(2, word.size() / 2);
  std::erase_if(near, [&](const auto& one) { return one.first > limit; });
  std::sort(near.begin(), near.end());
  near.resize(std::min(near.size(), kGuesses));
  std::string names;
  for (const auto& [distance, shown] : near) names += (names.empty() ? "" : ", ") + shown;
  return names;
}

}  // namespace course::grading
