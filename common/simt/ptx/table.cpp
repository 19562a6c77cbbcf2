#include "simt/ptx/table.hpp"

#include <algorithm>
#include <array>

namespace simt::ptx {
namespace {

constexpr std::array kTable = {
#define PTX(name, modifiers, operands, counted, section, what, ...) \
  Entry{name, modifiers, operands, Counted::counted, section, what},
#include "simt/ptx/instructions.inc"
#undef PTX
};

constexpr std::array kSpecialRegisters = {
    SpecialRegister{"tid.x", Type::u32, "threadIdx.x; .y and .z as well"},
    SpecialRegister{"tid.y", Type::u32, ""},
    SpecialRegister{"tid.z", Type::u32, ""},
    SpecialRegister{"ntid.x", Type::u32, "blockDim.x; .y and .z as well"},
    SpecialRegister{"ntid.y", Type::u32, ""},
    SpecialRegister{"ntid.z", Type::u32, ""},
    SpecialRegister{"ctaid.x", Type::u32, "blockIdx.x; .y and .z as well"},
    SpecialRegister{"ctaid.y", Type::u32, ""},
    SpecialRegister{"ctaid.z", Type::u32, ""},
    SpecialRegister{"nctaid.x", Type::u32, "gridDim.x; .y and .z as well"},
    SpecialRegister{"nctaid.y", Type::u32, ""},
    SpecialRegister{"nctaid.z", Type::u32, ""},
    SpecialRegister{"laneid", Type::u32, "the lane in its warp"},
    SpecialRegister{"warpid", Type::u32, "the warp in its block"},
    SpecialRegister{"nwarpid", Type::u32, "how many warps a multiprocessor holds: always 64"},
    SpecialRegister{"smid", Type::u32, "always 0"},
    SpecialRegister{"nsmid", Type::u32, "always 1"},
    SpecialRegister{"lanemask_eq", Type::u32, "the bit of this lane"},
    SpecialRegister{"lanemask_lt", Type::u32, "the bits of the lanes below; _le, _gt, _ge as well"},
    SpecialRegister{"lanemask_le", Type::u32, ""},
    SpecialRegister{"lanemask_gt", Type::u32, ""},
    SpecialRegister{"lanemask_ge", Type::u32, ""},
    SpecialRegister{"clock", Type::u32, "nanoseconds, the lower 32 bits; clock_hi the upper ones"},
    SpecialRegister{"clock_hi", Type::u32, ""},
    SpecialRegister{"clock64", Type::u64, "nanoseconds"},
    SpecialRegister{"globaltimer", Type::u64, "nanoseconds; _lo and _hi as well"},
    SpecialRegister{"globaltimer_lo", Type::u32, ""},
    SpecialRegister{"globaltimer_hi", Type::u32, ""},
    SpecialRegister{"dynamic_smem_size", Type::u32, "bytes of dynamic shared memory"},
};

}  // namespace

std::span<const Entry> table() { return kTable; }
std::span<const SpecialRegister> special_registers() { return kSpecialRegisters; }

int special_register(std::string_view name) {
  const auto found = std::find_if(kSpecialRegisters.begin(), kSpecialRegisters.end(),
                                  [&](const SpecialRegister& known) { return known.name == name; });
  return found == kSpecialRegisters.end() ? -1 : static_cast<int>(found - kSpecialRegisters.begin());
}

}  // namespace simt::ptx
