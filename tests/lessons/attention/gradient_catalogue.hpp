#pragma once
/// @file
/// How mistakes_in() collects the mistakes of backward kernels.

#include <functional>
#include <string>
#include <vector>

#include "attention/gradient_mistakes.hpp"

namespace course::attention_tests {

/// The mistakes of one problem and one of its results.
class GradientCatalogue {
 public:
  GradientCatalogue(const BackwardProblem& p, Gradient which);

  void add(grading::Mistake mistake) { patterns_.push_back(std::move(mistake)); }
  /// Where some query sees no key, also with weights of 0 there: a kernel may or may not take care of it.
  void add(const char* name, GradientDeviation how, std::string sentence);

  const BackwardProblem& p() const { return p_; }
  Gradient which() const { return which_; }
  bool is(Gradient which) const { return which_ == which; }
  /// dK or dQ, which dS enters.
  bool has_dS() const { return which_ == Gradient::dK || which_ == Gradient::dQ; }
  /// dV, dK or dQ.
  bool has_P() const { return which_ == Gradient::dV || has_dS(); }
  /// dO holds nothing but 0 and 1, as in identity_in_K(): some mistakes cannot be told apart then.
  bool plain_dO() const { return plain_dO_; }
  const std::vector<NamedGradientDeviation>& deviations() const { return deviations_; }
  const grading::Mistakes& patterns() const { return patterns_; }
  grading::Mistakes mistakes() const;

 private:
  const BackwardProblem& p_;
  Gradient which_;
  bool plain_dO_ = true, any_empty_row_ = false;
  std::vector<NamedGradientDeviation> deviations_;
  grading::Mistakes patterns_;
};

/// What mistakes_in() is made of.
GradientCatalogue catalogue(const BackwardProblem& p, Gradient which);

/// " (That is what tiles of 32 queries give.)"
std::string of_query_tiles(Int width);

// Which queries meet which keys, and where they lie.
void add_views(GradientCatalogue& to);
void add_heads(GradientCatalogue& to);
void add_reading(GradientCatalogue& to);
void add_rows(GradientCatalogue& to);

// What is written, and how.
void add_sink(GradientCatalogue& to);
void add_output(GradientCatalogue& to);

}  // namespace course::attention_tests
