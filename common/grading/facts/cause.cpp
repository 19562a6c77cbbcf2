#include "grading/facts/cause.hpp"

#include <algorithm>
#include <map>
#include <set>

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

/// What speaks for a mistake: the failures that it explains, and how many numbers they have.
struct Evidence {
  std::set<const Failure*> failures;
  std::int64_t numbers = 0;
  bool finite = false;   ///< some of them are from a result without NaN and infinities
  bool telling = false;  ///< some of them are from a result that is not NaN throughout
};

/// Which much may lead to.
bool is_nan_throughout(const WrongValues& values) {
  return values.common == WrongValues::Common::nan && values.count == values.size;
}

/// What the mistake says of a failure, and its other forms.
std::vector<std::string> sentences_of(const Failure& failure, const std::string& mistake) {
  std::vector<std::string> sentences;
  for (const Attempt& attempt : failure.attempts)
    if (attempt.mistake == mistake && !attempt.sentence.empty()) {
      sentences.push_back(attempt.sentence);
      sentences.insert(sentences.end(), attempt.other_forms.begin(), attempt.other_forms.end());
    }
  return sentences;
}

/// That one of them which explains most failures; "" if there is none.
std::string most_telling(const Cause& cause, const std::vector<std::string>& sentences) {
  const auto failures = [&](const std::string& sentence) {
    const auto known = cause.sentences.find(sentence);
    return known == cause.sentences.end() ? 0 : known->second;
  };
  const auto most =
      std::max_element(sentences.begin(), sentences.end(),
                       [&](const std::string& a, const std::string& b) { return failures(a) < failures(b); });
  return most == sentences.end() ? "" : *most;
}

/// The sentence without the remark in brackets at its end, if the other ends with the same.
std::string without_remark_of(const std::string& sentence, const std::string& other) {
  const std::size_t remark = sentence.rfind(" (");
  const bool both = remark != std::string::npos && sentence.ends_with(")") &&
                    other.ends_with(std::string_view(sentence).substr(remark));
  return both ? sentence.substr(0, remark) : sentence;
}

}  // namespace

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
          const bool by_overflow = failure.values.overflowed && !attempt.ruled_out;
          (by_overflow ? contradicted_by_overflow : contradicted).insert(attempt.mistake);
        } else {
          Evidence& evidence = candidates[attempt.mistake];
          if (evidence.failures.insert(&failure).second)
            evidence.numbers += std::max<std::int64_t>(failure.values.count, 1);
          evidence.finite = evidence.finite || !failure.values.overflowed;
          evidence.telling = evidence.telling || !is_nan_throughout(failure.values);
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
  Cause cause{{}, most->second.numbers >= kTelling && most->second.telling};
  for (const auto& [mistake, evidence] : candidates)
    if (evidence.failures.size() == most->second.failures.size()) {
      if (evidence.failures != most->second.failures)
        return std::nullopt;  // each explains what the other does not
      cause.mistakes.push_back(mistake);
    }
  if (cause.mistakes.size() > 2) return std::nullopt;
  for (const std::string& mistake : cause.mistakes)
    for (const Failure* const failure : candidates.at(mistake).failures)
      for (const std::string& sentence : sentences_of(*failure, mistake)) ++cause.sentences[sentence];
  return cause;
}

std::string sentence_for(const Cause& cause, const CaseResult& result) {
  for (const Failure& failure : result.failures) {
    const std::string first = most_telling(cause, sentences_of(failure, cause.mistakes.front()));
    if (first.empty()) continue;
    const std::string second = most_telling(cause, sentences_of(failure, cause.mistakes.back()));
    if (cause.mistakes.size() > 1 && !second.empty()) {
      if (second.starts_with(kTwoThings)) return first;  // where one explains all
      if (first.starts_with(kTwoThings)) return second;
      return "Two mistakes give exactly these numbers. One: " + without_remark_of(first, second) +
             " The other: " + second;
    }
    return (cause.sure ? "" : "Probably: ") + first;
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
