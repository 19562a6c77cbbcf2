#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tensor/tensor.hpp"

/// How the interactive pages write numbers, sentences and questions.
namespace course::steps {

/// A row or column as an index of std::array.
inline std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// Three decimals, with a minus sign in place of a hyphen; −∞ for -inf.
std::string number(double value);

/// A number of an input, without needless zeros.
std::string input(double value);

/// A number after a sign: in brackets if it has one of its own.
std::string after_sign(const std::string& text);

/// "a, b" + `last` + "c".
std::string join(const std::vector<std::string>& parts, const char* last);

template <std::size_t N>
std::string tuple(const std::array<double, N>& values) {
  std::vector<std::string> parts;
  for (const double value : values) parts.push_back(number(value));
  return "(" + join(parts, ", ") + ")";
}

/// An answer to a question: the number as the page shows it, and what it is.
struct Choice {
  double value;
  std::string says;
};

/// What a reader is asked before a step is shown.
struct Question {
  std::string text;
  std::vector<Choice> choices;  ///< by their values; each is shown as another number
  std::size_t right;            ///< which of them the step shows
};

/// @brief A question with the right answer and those wrong ones that look different from it and from one
/// another, the first ones first; none if no wrong one is left.
std::optional<Question> question(const std::string& text, const Choice& right,
                                 const std::vector<Choice>& wrong);

/// @throws std::logic_error, which names both and `where`, unless they differ by at most 1e-12.
void require_near(double a, double expected, const std::string& where);

/// -inf is the string "-inf".
nlohmann::json json_of(double value);
nlohmann::json json_of(const Question& question);

template <class T, std::size_t N>
nlohmann::json json_of(const std::array<T, N>& values) {
  nlohmann::json list = nlohmann::json::array();
  for (const T& value : values) list.push_back(json_of(value));
  return list;
}

template <class T>
nlohmann::json json_of(const std::optional<T>& value) {
  return value ? json_of(*value) : nlohmann::json();
}

/// Shapes: x is (1, 1, rows, cols).
template <class T>
nlohmann::json matrix(const Tensor<T>& x) {
  nlohmann::json rows = nlohmann::json::array();
  for (std::int64_t i = 0; i < x.shape()[2]; ++i) {
    nlohmann::json row = nlohmann::json::array();
    for (std::int64_t d = 0; d < x.shape()[3]; ++d)
      row.push_back(json_of(static_cast<double>(x(0, 0, i, d))));
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace course::steps
