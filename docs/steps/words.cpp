#include "steps/words.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace course::steps {

std::string number(double value) {
  if (std::isinf(value)) return value < 0 ? "−∞" : "∞";
  const std::string digits = fmt::format("{:.3f}", std::abs(value));
  return (value < 0 && digits != "0.000" ? "−" : "") + digits;
}

std::string input(double value) { return (value < 0 ? "−" : "") + fmt::format("{:g}", std::abs(value)); }

std::string after_sign(const std::string& text) { return text.rfind("−", 0) == 0 ? "(" + text + ")" : text; }

std::string join(const std::vector<std::string>& parts, const char* last) {
  std::string all;
  for (std::size_t i = 0; i < parts.size(); ++i)
    all += (i == 0 ? "" : i + 1 == parts.size() ? last : ", ") + parts[i];
  return all;
}

std::optional<Question> question(const std::string& text, const Choice& right,
                                 const std::vector<Choice>& wrong) {
  constexpr std::size_t kMostChoices = 3;
  std::vector<Choice> choices{right};
  for (const Choice& choice : wrong) {
    const bool shown = std::any_of(choices.begin(), choices.end(), [&](const Choice& other) {
      return number(other.value) == number(choice.value);
    });
    if (!shown && choices.size() < kMostChoices) choices.push_back(choice);
  }
  if (choices.size() == 1) return std::nullopt;
  std::sort(choices.begin(), choices.end(),
            [](const Choice& a, const Choice& b) { return a.value < b.value; });
  const auto place = std::find_if(choices.begin(), choices.end(),
                                  [&](const Choice& choice) { return choice.value == right.value; });
  return Question{text, choices, static_cast<std::size_t>(place - choices.begin())};
}

void require_near(double a, double expected, const std::string& where) {
  if (a == expected || std::abs(a - expected) <= 1e-12) return;
  throw std::logic_error(fmt::format("the steps give {}, but the reference {}: {}", a, expected, where));
}

nlohmann::json json_of(double value) {
  return value == -std::numeric_limits<double>::infinity() ? nlohmann::json("-inf") : nlohmann::json(value);
}

nlohmann::json json_of(const Question& question) {
  nlohmann::json choices = nlohmann::json::array();
  for (const Choice& choice : question.choices)
    choices.push_back({{"value", json_of(choice.value)}, {"says", choice.says}});
  return {{"text", question.text}, {"choices", std::move(choices)}, {"right", question.right}};
}

}  // namespace course::steps
