#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace course::grading {

/// A name that a person may have meant, and how a message writes it.
struct Candidate {
  std::string name, shown;
};

/// @brief What somebody who typed `word` may have meant: up to three names, the nearest first, separated by
/// commas; empty if nothing comes near. Near is what contains the word, or differs from it (it
/// or the words that it begins with) in up to half of its letters.
std::string near_names(std::string_view word, const std::vector<Candidate>& candidates);

}  // namespace course::grading
