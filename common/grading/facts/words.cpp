#include "grading/facts/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "grading/base/messages.hpp"
#include "tensor/format.hpp"

namespace course::grading {
namespace {

constexpr int kPrintedLines = 5;  // a message is read whole; the results file has more of them

/// Whether the places say more than how many there are: of a few elements no rule can be seen, and that some
/// columns of a single row are wrong is that number again.
bool places_tell(const WrongValues& values) {
  constexpr std::int64_t kFewElements = 16;
  const Positions& where = values.where;
  if (where.kind == Positions::Kind::nowhere) return values.size > kFewElements;
  return where.axes.size() != 1 || where.axes.front().kind != AxisRange::Kind::some ||
         where.axes.front().count != values.count;
}

/// How many elements are wrong, where they lie, and what they have in common. More than one was compared.
std::string describe_all(const WrongValues& values) {
  if (values.count == 1)
    return values.size == 2 ? " The other element is right."
                            : fmt::format(" The other {} elements are right.", values.size - 1);
  std::string text = fmt::format(" {} of {} elements {}", values.count, values.size,
                                 values.unwritten == values.count ? "were never written" : "are wrong");
  if (values.count < values.size && places_tell(values)) text += ": " + to_words(values.where);
  text += ".";
  if (values.unwritten == values.count) return text;
  if (values.unwritten > 0)
    return text + fmt::format(" {} of them {} never written.", values.unwritten,
                              values.unwritten == 1 ? "was" : "were");
  if (values.common == WrongValues::Common::zero) return text + " All of them are 0.";
  if (values.common == WrongValues::Common::nan) return text + " All of them are NaN.";
  return text;
}

/// Whether an array stayed as it was because no kernel ran at all in the case.
bool nothing_was_launched(const CaseResult& result) {
  const auto launches = result.counters.find("launches");
  return launches != result.counters.end() && launches->second == 0 &&
         std::any_of(result.failures.begin(), result.failures.end(), [](const Failure& failure) {
           return failure.kind == Failure::Kind::values && never_written(failure.values);
         });
}

}  // namespace

std::string about(double value) {
  return std::abs(value) >= 100 && std::abs(value) < 1e6 ? fmt::format("{:.0f}", value)
                                                         : fmt::format("{:.2g}", value);
}

std::string to_words(const WrongValues& values) {
  const std::string element = values.array + format_index(values.index);
  std::string text;
  if (values.never_written) {
    text = fmt::format("{} was never written; it should be {}.", element, values.expected);
  } else {
    text = fmt::format("{} is {}, expected {}", element, values.got, values.expected);
    if (values.bit_for_bit) text += ", bit for bit";
    if (values.error > 0) {
      const std::string limit =  // none stands where every bit has to be right
          values.allowed > 0 ? fmt::format("; at most {} is allowed", about(values.allowed)) : "";
      text += fmt::format(" (off by {}{})", about(values.error), limit);
    }
    text += ".";
  }
  return values.size > 1 ? text + describe_all(values) : text;
}

std::string to_words(const Failure& failure) {
  const std::string text =
      failure.kind == Failure::Kind::values ? to_words(failure.values) : failure.sentence;
  return failure.context.empty() ? text : failure.context + ": " + text;
}

std::vector<std::string> lines_of_failures(const CaseResult& result, const std::string& cause) {
  std::vector<std::string> lines, unwritten;
  std::string context;
  bool first = true;
  std::vector<Failure> failures = result.failures;
  if (!cause.empty())  // it stands beside the numbers, before advice that knows nothing of it
    std::stable_partition(failures.begin(), failures.end(),
                          [](const Failure& one) { return one.kind == Failure::Kind::values; });
  bool told = cause.empty();
  const bool explained = !told || explains_findings(result);
  for (Failure& failure : failures) {
    if (failure.found || (failure.misplaced && explained)) continue;
    if (!told && failure.kind != Failure::Kind::values) lines.push_back(cause), told = true;
    if (failure.context == context && failure.kind == Failure::Kind::values && !first &&
        never_written(failure.values)) {
      unwritten.push_back(failure.values.array);
      continue;
    }
    first = false;
    if (std::exchange(context, failure.context) == failure.context)
      failure.context.clear();
    else if (failure.in_other_call)
      failure.context = "In another call, " + failure.context;
    lines.push_back(to_words(failure));
  }
  if (!unwritten.empty()) {
    std::string names = unwritten.front();
    for (std::size_t i = 1; i < unwritten.size(); ++i)
      names += (i + 1 == unwritten.size() ? " and " : ", ") + unwritten[i];
    lines.push_back(fmt::format("{} {} not written, either.", names, unwritten.size() == 1 ? "was" : "were"));
  }
  if (nothing_was_launched(result)) lines.emplace_back("No kernel was launched.");
  if (!told) lines.push_back(cause);
  return lines;
}

std::string to_words(const CaseResult& result, const std::optional<Cause>& cause) {
  std::string text;
  for (const Finding& finding : reasons_in(result.findings))
    if (finding.severity == Severity::error || !result.passed) add_line(text, finding.message());
  for (const std::string& line : lines_of_failures(result, cause ? sentence_for(*cause, result) : ""))
    add_line(text, line);
  if (!result.passed) text += printed_part(result.printed);
  return text;
}

std::string printed_part(std::string_view printed) {
  if (printed.empty()) return {};
  std::size_t begin = printed.size();
  for (int line = 0; line < kPrintedLines && begin != std::string_view::npos; ++line)
    begin = begin == 0 ? std::string_view::npos : printed.rfind('\n', begin - 1);
  const bool cut = begin != std::string_view::npos;
  return fmt::format("\nYour code printed:\n{}{}", cut ? "...\n" : "", printed.substr(cut ? begin + 1 : 0));
}

}  // namespace course::grading
