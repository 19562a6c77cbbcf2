#pragma once
/// @file
/// How mistakes_in() collects its mistakes.

#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "attention/mistakes.hpp"

namespace course::attention_tests {

inline constexpr double kLog2e = 1.4426950408889634;

/// Which keys each query sees: a character for each pair, in rows of queries. Two views are compared often,
/// and a string compares faster than a vector of bools.
using View = std::string;

View view_of(const Problem& p, const std::function<bool(Int i, Int j)>& sees);

/// The mistakes of one problem and one of its results.
class Catalogue {
 public:
  Catalogue(const Problem& p, Which which);

  void add(grading::Mistake mistake);
  void add(const char* name, Deviation how, std::string sentence);
  /// Other keys than the mask shows; ruled out if it makes no difference. Where an earlier one of another
  /// name shows the same keys, or where nothing is left to see, such a result speaks neither for the mistake
  /// nor against it. A rehearsal, which asks only for names, does not look which keys are seen.
  void add_view(const char* name, std::function<bool(Int i, Int j)> sees, std::string sentence);
  /// The same, also if an earlier one of another name shows the same keys: other problems tell the two apart.
  void add_view_too(const char* name, std::function<bool(Int i, Int j)> sees, std::string sentence);

  /// A mistake that leaves no result of the kernel right: see grading::Mistake.
  void of_all_results(const char* name) { of_all_results_.insert(name); }

  /// A mistake that leaves this problem's results right: whatever is wrong with them, that is not why.
  void rule_out(const char* name);
  /// One of which a form is not tried: not ruled out, whatever is said of its other forms.
  void leave_open(const char* name);

  const Problem& p() const { return p_; }
  Which which() const { return which_; }
  const std::vector<NamedDeviation>& deviations() const { return deviations_; }
  const grading::Mistakes& patterns() const { return patterns_; }
  grading::Mistakes mistakes() const;

 private:
  const Problem& p_;
  Which which_;

  View shown_;  ///< by the mask
  std::set<std::string> of_all_results_, ruled_out_, left_open_;
  std::set<View> views_;
  std::set<std::pair<std::string, View>> views_by_name_;
  std::vector<NamedDeviation> deviations_;
  grading::Mistakes patterns_;
};

/// What mistakes_in() is made of.
Catalogue catalogue(const Problem& p, Which which, bool block_attends = false);

/// " (That is what tiles of 32 keys give.)"
std::string of_tiles(Int width);

// What concerns which keys a query gets.
void add_heads(Catalogue& to);
void add_mask(Catalogue& to);
void add_missing_keys(Catalogue& to);

}  // namespace course::attention_tests
