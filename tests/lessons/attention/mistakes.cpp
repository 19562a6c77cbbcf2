#include "attention/mistakes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "attention/catalogue.hpp"
#include "grading/facts/poison.hpp"
#include "grading/testing/listing.hpp"

namespace course::attention_tests {

using grading::Mistake;
using grading::Mistakes;
using grading::WrongResult;

namespace {

/// Whether a deviation may explain the result, judged by one row: no if that row is something else by far
/// more than rounding. Most deviations are found out here, at a fraction of the cost of all rows.
bool may_give(const Problem& p, const Deviation& how, Which which, const WrongResult& result, Int row) {
  const std::vector<double> wrong = deviate_in_row(p, how, which, row);
  const auto size = static_cast<Int>(wrong.size());
  double magnitude = 0;
  for (const double x : wrong)
    if (std::isfinite(x)) magnitude = std::max(magnitude, std::abs(x));
  const double far = 100 * result.comparison.allowed + 1e-3 * magnitude;
  for (Int d = 0; d < size; ++d) {
    const auto got = static_cast<double>(result.got.at_linear(row * size + d));
    const double want = wrong[static_cast<std::size_t>(d)];
    if (is_nan_as_expected(result, row * size + d)) continue;
    if (std::isnan(got) != std::isnan(want)) return false;
    if (std::isfinite(got) && std::isfinite(want) && std::abs(got - want) > far) return false;
  }
  return true;
}

/// "In Q: Every head ..." as "Q" and ": Every head ..."; "" and all of it if it names no tensor.
std::pair<std::string, std::string> tensor_and_rest(const std::string& sentence) {
  const std::size_t colon = sentence.find(": ");
  if (!sentence.starts_with("In ") || colon > std::string("In Q, K and V").size()) return {"", sentence};
  return {sentence.substr(3, colon - 3), sentence.substr(colon)};
}

/// What all of these name: "V" of "V" and "K and V". Nothing if they have nothing in common.
std::string in_each(const std::vector<std::string>& tensors) {
  std::string common;
  for (const char* const tensor : {"Q", "K", "V"}) {
    const auto names = [&](const std::string& one) { return one.find(tensor) != std::string::npos; };
    if (std::all_of(tensors.begin(), tensors.end(), names))
      common += (common.empty() ? "" : " and ") + std::string(tensor);
  }
  return common;
}

bool sees_nothing(const View& view) { return view.find(char{1}) == View::npos; }

}  // namespace

bool is_nan_as_expected(const WrongResult& result, Int i) {
  return std::isnan(result.got.at_linear(i)) && std::isnan(result.expected.at_linear(i));
}

std::optional<std::string> gives_rounded(const std::string& name,
                                         const std::function<Tensor<double>()>& wrong,
                                         const std::string& sentence, const WrongResult& result) {
  // What float32 may lose on the way, of the largest number. Nothing else is known of sums that should be 0.
  constexpr double kRounding = 1e-6, kRoundingOfZeros = 1e-2;
  Tensor<double> values = wrong();
  for (Int i = 0; i < values.numel(); ++i)
    if (is_nan_as_expected(result, i)) values.at_linear(i) = result.expected.at_linear(i);
  const double right = grading::largest_magnitude(result.expected);
  grading::Comparison rounded = result.comparison;
  const double lost = right > 0 ? kRounding * right : kRoundingOfZeros * grading::largest_magnitude(values);
  rounded.allowed = std::max(4 * rounded.allowed, lost);
  const auto given = [&] { return values; };
  if (auto told = grading::gives(name, given, sentence).explain({result.got, result.expected, rounded}))
    return told;
  const auto differs_by_more_than = [&](double allowed) {
    return !grading::elements_off(values.to<float>(), result.expected, allowed).empty();
  };
  const bool near = !differs_by_more_than(rounded.allowed) && differs_by_more_than(result.comparison.allowed);
  if (near && grading::elements_off(result.got, values, rounded.allowed).empty()) return "";
  return std::nullopt;
}

namespace {

/// For Mistake::changes, where the mistake gives these numbers. Those that are not finite prove little.
bool moves_numbers(const Tensor<double>& values, const WrongResult& right) {
  for (Int i = 0; i < values.numel(); ++i) {
    const double off = std::abs(values.at_linear(i) - right.expected.at_linear(i));
    if (std::isfinite(off) && off > 100 * right.comparison.allowed) return true;
  }
  return false;
}

/// Where an input is NaN or infinite, so is much of what is right, and an overflow cannot be told from it.
bool is_finite(const Problem& p) {
  for (const Tensor<float>* x : {&p.Q, &p.K, &p.V})
    for (Int i = 0; i < x->numel(); ++i)
      if (!std::isfinite(x->at_linear(i))) return false;
  return true;
}

bool reads_elsewhere(const Deviation& how) { return how.Q || how.K || how.V || how.k_head || how.v_head; }

/// Of the wrong elements.
bool has_only_nan(const WrongResult& result) {
  const std::vector<Int>& off = result.comparison.wrong;
  return std::ranges::all_of(off, [&](Int i) { return std::isnan(result.got.at_linear(i)); });
}

}  // namespace

Mistake gives_about(std::string name, std::function<Tensor<double>()> wrong, std::string sentence) {
  grading::list_mistake(name, sentence);
  const auto explain = [name, wrong, sentence = std::move(sentence)](const WrongResult& result) {
    return gives_rounded(name, wrong, sentence, result);
  };
  const auto changes = [wrong](const WrongResult& right) { return moves_numbers(wrong(), right); };
  return {.name = std::move(name), .explain = explain, .changes = changes};
}

Mistake deviation(std::string name, const Problem& p, Which which, Deviation how, std::string sentence) {
  grading::list_mistake(name, sentence);
  const auto explain = [&p, which, how, name,
                        sentence](const WrongResult& result) -> std::optional<std::string> {
    const std::vector<Int>& off = result.comparison.wrong;
    const Int row_size = which == Which::O ? p.D() : 1;
    if (!off.empty() && !(may_give(p, how, which, result, off.front() / row_size) &&
                          may_give(p, how, which, result, off.back() / row_size)))
      return std::nullopt;
    // What lies past the arrays is NaN, also to a kernel that got there in another way.
    if (reads_elsewhere(how) && is_finite(p) && has_only_nan(result)) return std::nullopt;
    grading::Comparison of_its_scores = result.comparison;  // larger scores lose more to rounding
    if (how.scale && p.scale != 0)
      of_its_scores.allowed *= std::max(1.0, std::abs(*how.scale / static_cast<double>(p.scale)));
    return gives_rounded(name, [&] { return deviate(p, how, which).of(which); }, sentence,
                         {result.got, result.expected, of_its_scores});
  };
  const auto changes = [&p, which, how](const WrongResult& right) {
    return moves_numbers(deviate(p, how, which).of(which), right);
  };
  return {.name = std::move(name), .explain = explain, .changes = changes};
}

Mistake overflowing_deviation(std::string name, const Problem& p, Which which, Deviation how,
                              std::string sentence) {
  grading::list_mistake(name, sentence);
  const auto explain = [&p, which, how, name,
                        sentence](const WrongResult& result) -> std::optional<std::string> {
    if (!is_finite(p)) return "";
    const auto wrong = [&] {
      Tensor<double> values = deviate(p, how, which).of(which);
      for (Int i = 0; i < values.numel(); ++i) {
        const float got = result.got.at_linear(i);
        if (!std::isfinite(values.at_linear(i)) && !std::isfinite(got) && !grading::is_poison(got))
          values.at_linear(i) = static_cast<double>(got);
      }
      return values;
    };
    return gives_rounded(name, wrong, sentence, result);
  };
  return {std::move(name), explain};
}

namespace {

/// What the first of a mistake's forms says that explains the result; of readings of several tensors, in
/// which of them it has to be.
std::optional<std::string> first_explanation(const Mistakes& forms, const WrongResult& result) {
  std::optional<std::string> found;
  std::vector<std::string> tensors;  // in which it gives this result
  for (const Mistake& form : forms) {
    const std::optional<std::string> sentence = form.explain(result);
    if (!sentence) continue;
    if (!found || found->empty()) found = sentence;
    if (found->empty()) continue;
    const auto [tensor, rest] = tensor_and_rest(*sentence);
    if (tensor.empty()) break;
    if (rest == tensor_and_rest(*found).second) tensors.push_back(tensor);
  }
  if (tensors.size() > 1) {  // it may be any of them
    const std::string common = in_each(tensors), rest = tensor_and_rest(*found).second;
    found = common.empty() ? rest.substr(std::string(": ").size()) : "In " + common + ", at least" + rest;
  }
  return found;
}

/// What the forms after that one say.
std::vector<std::string> other_explanations(const Mistakes& forms, const WrongResult& result) {
  std::vector<std::string> sentences;
  const auto add = [&](const std::string& sentence) {
    if (std::find(sentences.begin(), sentences.end(), sentence) == sentences.end())
      sentences.push_back(sentence);
  };
  for (const Mistake& form : forms) {
    const std::string sentence = form.explain(result).value_or("");
    if (sentence.empty() || !tensor_and_rest(sentence).first.empty()) continue;
    add(sentence);
    if (form.other_forms)  // it was merged before
      for (const std::string& other : form.other_forms(result)) add(other);
  }
  if (!sentences.empty()) sentences.erase(sentences.begin());
  return sentences;
}

}  // namespace

Mistakes by_name(Mistakes mistakes) {
  std::vector<std::pair<std::string, Mistakes>> groups;
  for (Mistake& mistake : mistakes) {
    const auto same = std::find_if(groups.begin(), groups.end(),
                                   [&](const auto& group) { return group.first == mistake.name; });
    if (same != groups.end())
      same->second.push_back(std::move(mistake));
    else
      groups.push_back({mistake.name, {mistake}});
  }
  Mistakes merged;
  for (auto& [name, group] : groups) {
    const auto forms = std::make_shared<const Mistakes>(std::move(group));
    Mistake& one = merged.emplace_back();
    one.name = name;
    one.explain = [forms](const WrongResult& result) { return first_explanation(*forms, result); };
    one.other_forms = [forms](const WrongResult& result) { return other_explanations(*forms, result); };
    one.changes = [forms](const WrongResult& right) {  // in whichever form
      return std::all_of(forms->begin(), forms->end(),
                         [&](const Mistake& form) { return form.changes && form.changes(right); });
    };
    one.of_all_results = forms->front().of_all_results;
    one.ruled_out =
        std::all_of(forms->begin(), forms->end(), [](const Mistake& form) { return form.ruled_out; });
  }
  return merged;
}

Mistake only_written(std::string name, std::function<bool(const grading::Index&)> where,
                     std::string sentence) {
  grading::list_mistake(name, sentence);
  const auto fits = [where = std::move(where)](const WrongResult& result) {
    bool any = false;
    for (Int i = 0; i < result.got.numel(); ++i) {
      const bool unwritten = grading::is_poison(result.got.at_linear(i));
      if (unwritten == where(result.got.unravel(i))) return false;
      any = any || unwritten;
    }
    return any;
  };
  return {std::move(name), [fits, sentence = std::move(sentence)](const WrongResult& result) {
            return fits(result) ? std::optional(sentence) : std::nullopt;
          }};
}

std::vector<Misplacement> misplacements_in(const Problem& p, bool others_are_right) {
  std::vector<Misplacement> found;
  if (p.H() > 1) found.push_back({only_head_0_written()});
  if (p.B() > 1) found.push_back({only_batch_0_written()});
  if (p.H() > 1 && p.B() > 1 && p.B() != p.H())  // of one batch, it shows as a head
    found.push_back(
        {only_written(
             "head_and_batch_exchanged",
             [B = p.B(), H = p.H()](const grading::Index& at) { return at[1] < B && at[0] < H; },
             others_are_right ? "Only heads less than B and batches less than H were written: head and batch "
                                "are exchanged where it is stored."
                              : "Only heads less than B and batches less than H were written: the grid has "
                                "heads and batches the other way round than the kernel, which takes the one "
                                "for the other."),
         true});
  return found;
}

Mistake only_head_0_written() {
  return only_written(
      kOnlyHead0, [](const grading::Index& at) { return at[1] == 0; },
      "Only head 0 of each batch was written. The other heads have no blocks, or their blocks "
      "end, store nothing or write to the place of head 0.");
}

Mistake only_batch_0_written() {
  return only_written(
      kOnlyBatch0, [](const grading::Index& at) { return at[0] == 0; },
      "Only batch 0 was written. The other batches have no blocks, or their blocks end, store nothing or "
      "write to the place of batch 0.");
}

Mistake missing_tail(std::string name, std::size_t axis, std::string sentence, std::string if_written) {
  for (const std::string& each : {sentence, if_written}) grading::list_mistake(name, each);
  const auto begin_of_tail = [axis](const WrongResult& result) -> std::optional<Int> {
    const Int size = result.got.shape()[axis];
    std::vector<Int> wrong(static_cast<std::size_t>(size), 0);
    for (const Int i : result.comparison.wrong) {
      const float value = result.got.at_linear(i);
      if (!grading::is_poison(value) && value != 0.0f && value != -std::numeric_limits<float>::infinity())
        return std::nullopt;
      ++wrong[static_cast<std::size_t>(result.got.unravel(i)[axis])];
    }
    const auto first = std::find_if(wrong.begin(), wrong.end(), [](Int n) { return n > 0; });
    if (first == wrong.begin() || first == wrong.end() || (first - wrong.begin()) % 8 != 0)
      return std::nullopt;
    const Int each = result.got.numel() / size;
    if (!std::all_of(first, wrong.end(), [each](Int n) { return n == each; })) return std::nullopt;
    return first - wrong.begin();
  };
  return {std::move(name),
          [begin_of_tail, sentence = std::move(sentence),
           if_written = std::move(if_written)](const WrongResult& result) -> std::optional<std::string> {
            const std::optional<Int> first = begin_of_tail(result);
            if (!first) return std::nullopt;
            const std::vector<Int>& wrong = result.comparison.wrong;
            const bool written = std::any_of(wrong.begin(), wrong.end(), [&](Int i) {
              return !grading::is_poison(result.got.at_linear(i));
            });
            std::string text = written && !if_written.empty() ? if_written : sentence;
            if (const std::size_t at = text.find("{}"); at != std::string::npos)
              text.replace(at, 2, std::to_string(*first));
            return text;
          }};
}

std::vector<Int> tile_widths(Int size) {
  std::vector<Int> widths;
  for (Int width = 8; width <= 256 && width < size; width *= 2) widths.push_back(width);
  return widths;
}

std::vector<Int> ends_of_whole_tiles(Int size) {
  std::vector<Int> ends;
  for (Int tile = 4; tile <= 256; tile *= 2) {
    const Int end = size / tile * tile;
    if (end < size && (ends.empty() || ends.back() != end)) ends.push_back(end);
  }
  return ends;
}

View view_of(const Problem& p, const std::function<bool(Int i, Int j)>& sees) {
  View view(static_cast<std::size_t>(p.Nq() * p.Nk()), 0);
  auto to = view.begin();
  for (Int i = 0; i < p.Nq(); ++i)
    for (Int j = 0; j < p.Nk(); ++j) *to++ = static_cast<char>(sees(i, j));
  return view;
}

Catalogue::Catalogue(const Problem& p, Which which)
    : p_(p), which_(which), shown_(view_of(p, [&p](Int i, Int j) { return p.sees(i, j); })) {}

void Catalogue::add(Mistake mistake) { patterns_.push_back(std::move(mistake)); }

void Catalogue::add(const char* name, Deviation how, std::string sentence) {
  deviations_.push_back({name, std::move(how), std::move(sentence)});
}

void Catalogue::add_view(const char* name, std::function<bool(Int i, Int j)> sees, std::string sentence) {
  if (rehearsing()) return add(name, {.sees = std::move(sees)}, std::move(sentence));
  View view = view_of(p_, sees);
  if (view == shown_) return rule_out(name);
  if (sees_nothing(view)) return leave_open(name);
  if (!views_by_name_.emplace(name, view).second) return;
  const bool has_a_name = !views_.insert(std::move(view)).second;
  add(name, {.sees = std::move(sees)}, has_a_name ? "" : std::move(sentence));
}

void Catalogue::add_view_too(const char* name, std::function<bool(Int i, Int j)> sees, std::string sentence) {
  if (rehearsing()) return add(name, {.sees = std::move(sees)}, std::move(sentence));
  View view = view_of(p_, sees);
  if (view == shown_) return rule_out(name);
  if (sees_nothing(view)) return leave_open(name);
  if (views_by_name_.emplace(name, std::move(view)).second)
    add(name, {.sees = std::move(sees)}, std::move(sentence));
}

void Catalogue::rule_out(const char* name) { ruled_out_.insert(name); }

void Catalogue::leave_open(const char* name) { left_open_.insert(name); }

Mistakes Catalogue::mistakes() const {
  Mistakes all;
  for (const NamedDeviation& one : deviations_)
    all.push_back(deviation(one.name, p_, which_, one.how, one.sentence));
  all.insert(all.end(), patterns_.begin(), patterns_.end());
  for (const std::string& name : ruled_out_)
    if (!left_open_.contains(name))
      all.push_back({.name = name,
                     .explain = [](const WrongResult&) -> std::optional<std::string> { return std::nullopt; },
                     .ruled_out = true});
  for (Mistake& mistake : all) mistake.of_all_results = of_all_results_.contains(mistake.name);
  return by_name(std::move(all));
}

std::string of_tiles(Int width) {
  return " (That is what tiles of " + std::to_string(width) + " keys give.)";
}

}  // namespace course::attention_tests
