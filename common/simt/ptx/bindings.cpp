// What carries out each row of the table.

#include <array>

#include "simt/ptx/arithmetic.hpp"
#include "simt/ptx/bits.hpp"
#include "simt/ptx/convert.hpp"
#include "simt/ptx/machine.hpp"
#include "simt/ptx/matrix.hpp"
#include "simt/ptx/memory.hpp"
#include "simt/ptx/warp.hpp"

namespace simt::ptx {

Bound bind(const Match& match) {
  using Binding = Bound (*)(const Match&);
  static constexpr Binding kBindings[] = {
#define PTX(name, modifiers, operands, counted, section, what, ...) __VA_ARGS__,
#include "simt/ptx/instructions.inc"
#undef PTX
  };
  return kBindings[match.row](match);
}

}  // namespace simt::ptx
