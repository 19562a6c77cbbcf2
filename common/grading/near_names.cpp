#include "grading/near_names.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

namespace course::grading {
namespace {

constexpr std::size_t kGuesses = 3;

/// Levenshtein distance: insertions, deletions and replacements that turn one word into the other.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

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
