#include "simt/report/trace_wish.hpp"

#include <charconv>
#include <cstdlib>
#include <stdexcept>
#include <vector>

namespace simt::report {
namespace {

/// Whole numbers between commas; empty if there is anything else.
std::vector<unsigned> numbers_in(const std::string& text) {
  std::vector<unsigned> numbers;
  const char* const end = text.data() + text.size();
  for (const char* at = text.data();; ++at) {
    unsigned number = 0;
    const auto [next, error] = std::from_chars(at, end, number);
    if (error != std::errc{}) return {};
    numbers.push_back(number);
    if (next == end) return numbers;
    if (*next != ',') return {};
    at = next;
  }
}

/// parse_trace_place() of SIMT_TRACE_AT, whose name an error then says.
TraceRequest place_of(const std::string& place) try {
  return parse_trace_place(place);
} catch (const std::invalid_argument& error) {
  throw std::invalid_argument("SIMT_TRACE_AT is '" + place + "'; " + error.what());
}

}  // namespace

TraceRequest parse_trace_place(const std::string& text) {
  const std::vector<unsigned> numbers = numbers_in(text);
  constexpr unsigned kMostWarps = 32;
  if (numbers.size() < 4 || numbers.size() > 5 || (numbers.size() == 5 && numbers[4] >= kMostWarps))
    throw std::invalid_argument(
        "write launch,x,y,z or launch,x,y,z,warp; 0,0,0,0 is the first block of the first launch");
  TraceRequest request;
  request.launch = numbers[0];
  request.block = {numbers[1], numbers[2], numbers[3]};
  if (numbers.size() == 5) request.warp = static_cast<int>(numbers[4]);
  return request;
}

std::optional<TraceWish> trace_wish() {
  const char* const file = std::getenv("SIMT_TRACE");
  const char* const place = std::getenv("SIMT_TRACE_AT");
  if (file == nullptr || *file == '\0') return std::nullopt;
  TraceWish wish{std::filesystem::absolute(file), {}};
  if (place != nullptr && *place != '\0') wish.request = place_of(place);
  if (const char* const steps = std::getenv("SIMT_TRACE_STEPS"); steps != nullptr && *steps != '\0') {
    const std::vector<unsigned> most = numbers_in(steps);
    if (most.size() != 1 || most[0] == 0)
      throw std::invalid_argument(std::string("SIMT_TRACE_STEPS is '") + steps +
                                  "'; write a whole number above 0");
    wish.request.most_steps = most[0];
  }
  return wish;
}

}  // namespace simt::report
