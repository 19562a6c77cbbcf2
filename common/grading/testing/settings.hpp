#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace course::grading {

/// Why `./course run` or `./course gradcheck` could not do its work, in one plain sentence.
class RunError : public std::runtime_error {
 public:
  /// `usage`: the arrays or settings given are the reason, not the kernel.
  RunError(const std::string& sentence, bool usage) : std::runtime_error(sentence), usage_(usage) {}
  bool usage() const { return usage_; }

 private:
  bool usage_;
};

/// @brief What the command line says with `--set name=value`, and which of it a lesson asked for.
class Settings {
 public:
  Settings() = default;
  explicit Settings(std::map<std::string, std::string> values) : values_(std::move(values)) {}

  /// @brief A setting, or the default. Truth values are true, false, 1 and 0.
  /// @throws RunError if the value is not of that kind.
  std::int64_t integer(std::string_view name, std::int64_t otherwise);
  double number(std::string_view name, double otherwise);
  bool boolean(std::string_view name, bool otherwise);

  /// @brief Names that are set and that nobody asked for.
  std::vector<std::string> unused_settings() const;

 private:
  const std::string* find(std::string_view name);  // nullptr: not set

  std::map<std::string, std::string> values_;
  std::set<std::string> used_;
};

}  // namespace course::grading
