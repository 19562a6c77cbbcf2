#include "grading/facts/cause.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace course::grading {
namespace {

// So many wrong numbers may be explained by chance, and so many are not.
constexpr std::int64_t kFewest = 3, kTelling = 4;

bool has_reason(const CaseResult& result) {
  return std::any_of(result.findings.begin(), result.findings.end(), may_explain);
}

/// Whether all that was found is accesses outside their arrays, or follows from one of these. A wrong index
/// leaves an array in one case and finds wrong elements in another: there numbers tell. What threads do to
/// one another, no case without it can tell.
bool only_strays(const CaseResult& result, const std::vector<Finding>& strays) {
  return has_reason(result) &&
         std::all_of(result.findings.begin(), result.findings.end(), [&](const Finding& finding) {
           return !may_explain(finding) || is_stray(finding) || follows_from_one(finding, strays);
         });
}

/// The remark in brackets at the sentence's end, with the blank before it. It says what the kernel is like:
/// how wide its tiles are.
std::string_view remark_of(std::string_view sentence) {
  const std::size_t begin = sentence.ends_with(")") ? sentence.rfind(" (") : std::string_view::npos;
  return begin == std::string_view::npos ? "" : sentence.substr(begin);
}

/// What speaks for a mistake: the failures that it explains, and how many numbers they have.
struct Evidence {
  std::set<const Failure*> failures;
  std::int64_t numbers = 0;
  bool finite = false;  ///< some of them are from a result without NaN and infinities
  /// By remark, which of them it explains so; in the order in which they came.
  std::vector<std::pair<std::string_view, std::set<const Failure*>>> kernels;

  void add(const Failure& failure, std::string_view remark) {
    const auto same = [&](const auto& one) { return one.first == remark; };
    auto kernel = std::find_if(kernels.begin(), kernels.end(), same);
    if (kernel == kernels.end()) kernel = kernels.insert(kernel, {remark, {}});
    kernel->second.insert(&failure);
  }
  /// The remark with which one kernel explains all, if there is one.
  std::optional<std::string_view> kernel() const {
    for (const auto& [remark, explained] : kernels)
      if (explained.size() == failures.size()) return remark;
    return std::nullopt;
  }
};

/// The sentence for a mistake, by preference that with the remark.
const std::string* explanation(const Failure& failure, const Cause::Suspect& suspect) {
  for (const Attempt& attempt : failure.attempts)
    if (attempt.mistake == suspect.mistake && !attempt.sentence.empty() &&
        remark_of(attempt.sentence) == suspect.remark)
      return &attempt.sentence;
  return failure.explanation(suspect.mistake);
}

/// The sentence without its remark, if the other ends with the same.
std::string without_remark_of(const std::string& sentence, const std::string& other) {
  const std::string_view remark = remark_of(sentence);
  return sentence.substr(0, sentence.size() - (other.ends_with(remark) ? remark.size() : 0));
}

}  // namespace

std::vector<std::string> Cause::names() const {
  std::vector<std::string> names;
  for (const Suspect& suspect : suspects) names.push_back(suspect.mistake);
  return names;
}

std::vector<Finding> strays_in(const std::vector<CaseResult>& cases) {
  std::vector<Finding> strays;
  for (const CaseResult& result : cases)
    if (!result.passed)
      for (const Finding& finding : result.findings)
        if (is_stray(finding)) add_new(strays, {finding});
  return strays;
}

std::optional<Cause> likeliest_cause(const std::vector<CaseResult>& cases) {
  const std::vector<Finding> strays = strays_in(cases);
  std::map<std::string, Evidence> candidates;
  std::set<std::string> contradicted, contradicted_by_overflow;
  for (const CaseResult& result : cases) {
    if (result.passed) continue;
    if (only_strays(result, strays)) continue;  // what it read there may be anything; other cases tell
    if (has_reason(result)) return std::nullopt;
    for (const Failure& failure : result.failures) {
      for (const Attempt& attempt : failure.attempts) {
        if (failure.contradicts(attempt.mistake)) {
          (failure.values.overflowed ? contradicted_by_overflow : contradicted).insert(attempt.mistake);
        } else {
          Evidence& evidence = candidates[attempt.mistake];
          if (evidence.failures.insert(&failure).second)
            evidence.numbers += std::max<std::int64_t>(failure.values.count, 1);
          evidence.finite = evidence.finite || !failure.values.overflowed;
          if (!attempt.sentence.empty()) evidence.add(failure, remark_of(attempt.sentence));
        }
      }
    }
  }
  for (const std::string& mistake : contradicted) candidates.erase(mistake);
  // Where numbers became NaN or infinite, a prediction in float64 proves little, for a mistake as against it.
  std::erase_if(candidates, [&](const auto& one) {
    return one.second.numbers < kFewest ||
           (!one.second.finite && contradicted_by_overflow.contains(one.first));
  });
  if (candidates.empty()) return std::nullopt;
  const auto less = [](const auto& a, const auto& b) {
    return a.second.failures.size() < b.second.failures.size();
  };
  const auto most = std::max_element(candidates.begin(), candidates.end(), less);
  Cause cause{{}, most->second.numbers >= kTelling};
  for (const auto& [mistake, evidence] : candidates)
    if (evidence.failures.size() == most->second.failures.size()) {
      if (evidence.failures != most->second.failures)
        return std::nullopt;  // each explains what the other does not
      cause.suspects.push_back({mistake, std::string(evidence.kernel().value_or(""))});
    }
  // Of several, those stay with which one kernel gives all these numbers.
  if (cause.suspects.size() > 1)
    std::erase_if(cause.suspects,
                  [&](const Cause::Suspect& one) { return !candidates[one.mistake].kernel(); });
  if (cause.suspects.empty() || cause.suspects.size() > 2) return std::nullopt;
  return cause;
}

std::string sentence_for(const Cause& cause, const CaseResult& result) {
  for (const Failure& failure : result.failures) {
    const std::string* const first = explanation(failure, cause.suspects.front());
    if (first == nullptr) continue;
    if (cause.suspects.size() > 1)
      if (const std::string* const second = explanation(failure, cause.suspects.back()))
        return "Two mistakes give exactly these numbers. One: " + without_remark_of(*first, *second) +
               " The other: " + *second;
    return (cause.sure ? "" : "Probably: ") + *first;
  }
  return "";
}

std::vector<std::string> sole_explanations(const CaseResult& result) {
  std::vector<std::string> names;
  for (const Failure& failure : result.failures) {
    std::set<std::string> explaining;
    for (const Attempt& attempt : failure.attempts)
      if (!attempt.sentence.empty()) explaining.insert(attempt.mistake);
    if (explaining.size() == 1 && std::find(names.begin(), names.end(), *explaining.begin()) == names.end())
      names.push_back(*explaining.begin());
  }
  return names;
}

}  // namespace course::grading
