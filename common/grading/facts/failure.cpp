#include "grading/facts/failure.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace course::grading {
namespace {

using nlohmann::json;

constexpr std::array kKinds{"values", "call", "effects", "check", "test"};
constexpr std::array kCommon{"nothing", "zero", "nan"};

template <class Names>
std::size_t place_of(const Names& names, const std::string& name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) throw std::invalid_argument("no such kind of failure: " + name);
  return static_cast<std::size_t>(found - names.begin());
}

/// The sentence with "#" for each number: what a check says for other sizes, too.
std::string without_numbers(const std::string& sentence) {
  std::string text;
  bool in_word = false;
  for (const char c : sentence) {
    const bool digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (digit && !in_word) {
      if (text.empty() || text.back() != '#') text += '#';
      continue;
    }
    in_word = std::isalpha(static_cast<unsigned char>(c)) != 0 || (in_word && digit);
    text += c;
  }
  return text;
}

json values_to_json(const WrongValues& values) {
  return {{"array", values.array},
          {"index", values.index},
          {"got", values.got},
          {"expected", values.expected},
          {"never_written", values.never_written},
          {"bit_for_bit", values.bit_for_bit},
          {"error", values.error},
          {"allowed", values.allowed},
          {"count", values.count},
          {"size", values.size},
          {"unwritten", values.unwritten},
          {"overflowed", values.overflowed},
          {"common", kCommon[static_cast<std::size_t>(values.common)]},
          {"where", positions_to_json(values.where)}};
}

WrongValues values_from_json(const json& value) {
  WrongValues values;
  value.at("array").get_to(values.array);
  value.at("index").get_to(values.index);
  value.at("got").get_to(values.got);
  value.at("expected").get_to(values.expected);
  value.at("never_written").get_to(values.never_written);
  value.at("bit_for_bit").get_to(values.bit_for_bit);
  value.at("error").get_to(values.error);
  value.at("allowed").get_to(values.allowed);
  value.at("count").get_to(values.count);
  value.at("size").get_to(values.size);
  value.at("unwritten").get_to(values.unwritten);
  value.at("overflowed").get_to(values.overflowed);
  values.common = static_cast<WrongValues::Common>(place_of(kCommon, value.at("common")));
  values.where = positions_from_json(value.at("where"));
  return values;
}

}  // namespace

bool never_written(const WrongValues& values) { return values.size > 0 && values.unwritten == values.size; }

std::string Failure::way() const {
  if (kind != Kind::values)
    return std::string(kKinds[static_cast<std::size_t>(kind)]) + ": " + without_numbers(sentence);
  const bool unwritten = values.unwritten == values.count && values.never_written;
  if (grading::never_written(values)) return "values: an array that was never written";
  return "values: " + values.array +
         (unwritten                                   ? ", never written"
          : values.common == WrongValues::Common::nan ? ", NaN"
          : values.bit_for_bit                        ? ", bits"
                                                      : "");
}

const std::string* Failure::explanation(const std::string& mistake) const {
  for (const Attempt& attempt : attempts)
    if (attempt.mistake == mistake && !attempt.sentence.empty()) return &attempt.sentence;
  return nullptr;
}

bool Failure::contradicts(const std::string& mistake) const {
  return explanation(mistake) == nullptr &&
         std::any_of(attempts.begin(), attempts.end(),
                     [&](const Attempt& one) { return one.mistake == mistake; });
}

json failure_to_json(const Failure& failure) {
  json value{{"kind", kKinds[static_cast<std::size_t>(failure.kind)]}, {"context", failure.context}};
  if (failure.kind == Failure::Kind::values) value["values"] = values_to_json(failure.values);
  if (!failure.sentence.empty()) value["sentence"] = failure.sentence;
  if (failure.found) value["found"] = true;
  if (failure.misplaced) value["misplaced"] = true;
  if (failure.explains_findings) value["explains_findings"] = true;
  if (failure.in_other_call) value["in_other_call"] = true;
  if (failure.attempts.empty()) return value;
  json explained = json::object(), contradicted = json::array(), ruled_out = json::array(),
       forms = json::object();
  for (const Attempt& attempt : failure.attempts) {
    if (attempt.sentence.empty())
      (attempt.ruled_out ? ruled_out : contradicted).push_back(attempt.mistake);
    else
      explained[attempt.mistake] = attempt.sentence;
    if (!attempt.other_forms.empty()) forms[attempt.mistake] = attempt.other_forms;
  }
  value["explained_by"] = std::move(explained);
  value["contradicts"] = std::move(contradicted);
  if (!ruled_out.empty()) value["rules_out"] = std::move(ruled_out);
  if (!forms.empty()) value["other_forms"] = std::move(forms);
  return value;
}

Failure failure_from_json(const json& value) {
  Failure failure;
  failure.kind = static_cast<Failure::Kind>(place_of(kKinds, value.at("kind")));
  value.at("context").get_to(failure.context);
  if (value.contains("values")) failure.values = values_from_json(value["values"]);
  failure.sentence = value.value("sentence", "");
  failure.found = value.value("found", false);
  failure.misplaced = value.value("misplaced", false);
  failure.explains_findings = value.value("explains_findings", false);
  failure.in_other_call = value.value("in_other_call", false);
  const json forms = value.value("other_forms", json::object());
  if (value.contains("explained_by"))
    for (const auto& [mistake, sentence] : value["explained_by"].items())
      failure.attempts.push_back({.mistake = mistake,
                                  .sentence = sentence,
                                  .other_forms = forms.value(mistake, std::vector<std::string>{})});
  if (value.contains("contradicts"))
    for (const json& mistake : value["contradicts"]) failure.attempts.push_back({.mistake = mistake});
  for (const json& mistake : value.value("rules_out", json::array()))
    failure.attempts.push_back({.mistake = mistake, .ruled_out = true});
  return failure;
}

}  // namespace course::grading
