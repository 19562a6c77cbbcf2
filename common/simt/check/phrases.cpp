#include "simt/check/phrases.hpp"

#include <fmt/format.h>

#include "simt/runtime/symbolize.hpp"

namespace simt::check {

std::string index_text(const std::array<unsigned, 3>& index) {
  return fmt::format("({},{},{})", index[0], index[1], index[2]);
}

std::string who(const FindingSide& side) {
  return fmt::format("thread {} of block {}", index_text(side.thread), index_text(side.block));
}

std::string helper_text(const FindingSide& side) {
  if (!side.in_helper()) return {};
  const SourceCall& inner = side.calls.front();
  return inner.function.empty() ? fmt::format("in {}", inner.place())
                                : fmt::format("in {}{} ({})", inner.function,
                                              inner.function == kLambda ? "" : "()", inner.place());
}

std::string subject(const FindingSide& side) {
  const std::string helper = helper_text(side);
  return helper.empty() ? who(side) : helper + ", " + who(side);
}

std::string place_text(const FindingSide& side) {
  const std::string helper = helper_text(side);
  return side.own().place() + (helper.empty() ? "" : ", " + helper);
}

std::string place_beside(const FindingSide& side, const FindingSide& here) {
  const SourceCall own = side.own(), own_here = here.own();
  const bool same_own = own.line == own_here.line && own.file == own_here.file;
  const bool same = same_own && side.line == here.line && side.file == here.file;
  const std::string helper = helper_text(side);
  if (same) return "in the same line";
  if (helper.empty()) return "at " + own.place();
  return helper + ", called " + (same_own ? "in the same line" : "at " + own.place());
}

}  // namespace simt::check
