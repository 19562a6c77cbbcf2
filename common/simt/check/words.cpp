#include "simt/check/words.hpp"

#include <fmt/format.h>

#include "simt/runtime/symbolize.hpp"

namespace simt::check {

std::string index_text(const std::array<unsigned, 3>& index) {
  return fmt::format("({},{},{})", index[0], index[1], index[2]);
}

std::string who(const FindingSide& side) {
  return fmt::format("thread {} of block {}", index_text(side.thread), index_text(side.block));
}

std::string place_text(const FindingSide& side) { return to_string(SourceLine{side.file, side.line}); }

std::string place_beside(const FindingSide& side, const FindingSide& here) {
  if (side.line == here.line && side.file == here.file) return "in the same line";
  return "at " + place_text(side);
}

}  // namespace simt::check
