#include "grading/testing/settings.hpp"

#include <fmt/format.h>

#include <charconv>
#include <system_error>

namespace course::grading {
namespace {

template <class T>
T parse(std::string_view name, const std::string& text, const char* wanted) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    throw RunError(fmt::format("--set {}={}: the value must be {}.", name, text, wanted), true);
  return value;
}

}  // namespace

const std::string* Settings::find(std::string_view name) {
  used_.emplace(name);
  const auto setting = values_.find(std::string(name));
  return setting == values_.end() ? nullptr : &setting->second;
}

std::int64_t Settings::integer(std::string_view name, std::int64_t otherwise) {
  const std::string* text = find(name);
  return text ? parse<std::int64_t>(name, *text, "a whole number") : otherwise;
}

double Settings::number(std::string_view name, double otherwise) {
  const std::string* text = find(name);
  return text ? parse<double>(name, *text, "a number") : otherwise;
}

bool Settings::boolean(std::string_view name, bool otherwise) {
  const std::string* text = find(name);
  if (!text) return otherwise;
  if (*text == "true" || *text == "1") return true;
  if (*text == "false" || *text == "0") return false;
  throw RunError(fmt::format("--set {}={}: the value must be true or false.", name, *text), true);
}

std::vector<std::string> Settings::unused_settings() const {
  std::vector<std::string> names;
  for (const auto& [name, value] : values_)
    if (!used_.contains(name)) names.push_back(name);
  return names;
}

}  // namespace course::grading
