#include "grading/calls/agreement.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

namespace course::grading {
namespace {

constexpr double kOfItself = 1e-2, kOfTheLargest = 1e-3, kOfTheCall = 1e-6;

template <class T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

bool is_real(const ArrayArgument& array) {
  return array.number == Number::real || array.number == Number::bfloat16 || array.number == Number::float16;
}

double real_at(const ArrayArgument& array, const std::byte* data, std::size_t element) {
  const std::byte* const from = data + element * array.element_bytes;
  if (array.number == Number::bfloat16) return static_cast<double>(load<bfloat16>(from));
  if (array.number == Number::float16) return static_cast<double>(load<float16>(from));
  return array.element_bytes == sizeof(float) ? load<float>(from) : load<double>(from);
}

bool agree(double run, double check, double floor) {
  if (std::isnan(run) || std::isnan(check)) return std::isnan(run) && std::isnan(check);
  if (std::isinf(run) || std::isinf(check)) return run == check;
  return std::abs(run - check) <= kOfItself * std::max(std::abs(run), std::abs(check)) + floor;
}

bool is_written(const ArrayArgument& array, const std::byte* data, std::size_t element) {
  return std::memcmp(data + element * array.element_bytes, &array.poison, array.element_bytes) != 0;
}

/// Calls visit(index, storage index) for each element that an index reaches, until it returns false.
template <class Visit>
void for_each_element(const ArrayArgument& array, Visit visit) {
  if (std::find(array.shape.begin(), array.shape.end(), 0) != array.shape.end()) return;
  std::vector<std::int64_t> index(array.shape.size(), 0);
  for (std::size_t axis = 1; axis > 0;) {
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < index.size(); ++i) offset += index[i] * array.strides[i];
    if (!visit(index, static_cast<std::size_t>(offset))) return;
    for (axis = index.size(); axis > 0 && ++index[axis - 1] == array.shape[axis - 1]; --axis)
      index[axis - 1] = 0;
  }
}

}  // namespace

double largest_number(const ArrayArgument& array, const std::byte* data) {
  double largest = 0;
  if (is_real(array))
    for_each_element(array, [&](const auto&, std::size_t i) {
      const double value = std::abs(real_at(array, data, i));
      if (std::isfinite(value) && is_written(array, data, i)) largest = std::max(largest, value);
      return true;
    });
  return largest;
}

std::string disagreement(const ArrayArgument& array, const std::byte* run, const std::byte* check,
                         std::string_view label, double largest_of_call) {
  if (array.number == Number::other) return {};
  const double floor = kOfTheLargest * largest_number(array, run) + kOfTheCall * largest_of_call;
  std::string sentence;
  for_each_element(array, [&](const std::vector<std::int64_t>& index, std::size_t i) {
    if (!is_written(array, run, i)) return true;
    const auto element = [&] { return fmt::format("{}[{}]", label, fmt::join(index, ", ")); };
    if (is_real(array)) {
      const double there = real_at(array, check, i), here = real_at(array, run, i);
      if (agree(here, there, floor)) return true;
      sentence = fmt::format("There {} was {:.7g}, and before it was {:.7g}.", element(), there, here);
    } else {
      const std::size_t at = i * array.element_bytes;
      if (std::memcmp(run + at, check + at, array.element_bytes) == 0) return true;
      sentence = fmt::format("There {} was another number.", element());
    }
    return false;
  });
  return sentence;
}

std::string disagreement(const std::map<std::string, std::int64_t>& run,
                         const std::map<std::string, std::int64_t>& check) {
  std::map<std::string, std::int64_t> before = run;
  for (const auto& [name, count] : check) before.try_emplace(name, 0);
  for (const auto& [name, count] : before) {
    const auto there = check.find(name);
    const std::int64_t other = there == check.end() ? 0 : there->second;
    if (other != count) return fmt::format("There were {} {} in it, and {} before.", other, name, count);
  }
  return {};
}

}  // namespace course::grading
