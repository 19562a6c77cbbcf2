#include "simt/check/block_work.hpp"

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <set>
#include <utility>

#include "simt/check/machine_code.hpp"

namespace simt::check {
namespace {

using Does = MachineInstruction::Does;

/// Functions that a GPU computes with its unit for special functions, and how often they use it at least.
/// Logarithms, sines and cosines of full precision do without. Source: what nvcc 13.0 makes of them for
/// sm_90a. The shim's intrinsics are called simt_fast_...
struct SpecialFunction {
  std::string_view name;
  std::uint32_t uses;
};
constexpr SpecialFunction kSpecialFunctions[] = {{"expf", 1},
                                                 {"exp2f", 1},
                                                 {"exp10f", 1},
                                                 {"expm1f", 1},
                                                 {"erff", 1},
                                                 {"powf", 1},
                                                 {"hypotf", 1},
                                                 {"tanhf", 2},
                                                 {"coshf", 2},
                                                 {"cbrtf", 2},
                                                 {"simt_fast_logf", 1},
                                                 {"simt_fast_log2f", 1},
                                                 {"simt_fast_log10f", 1},
                                                 {"simt_fast_powf", 2},
                                                 {"simt_fast_sinf", 1},
                                                 {"simt_fast_cosf", 1},
                                                 {"simt_fast_tanf", 3},
                                                 {"simt_fast_tanhf", 1},
                                                 {"simt_fast_rsqrtf", 1}};

constexpr int kMostJumps = 4096;  // that a block goes on behind

#ifdef __x86_64__
constexpr bool kUnderstood = true;
#else
constexpr bool kUnderstood = false;
#endif

}  // namespace

void BlockWork::begin_launch(std::uintptr_t code_begin, std::size_t code_bytes) {
  if (!kUnderstood || (code_begin == code_begin_ && code_bytes == code_bytes_)) return;
  code_begin_ = code_begin;
  code_bytes_ = code_bytes;
  blocks_.clear();
  numbers_ = ZeroedTable<std::uint32_t>(code_bytes);
  read_imports();
}

// From the hook's call to the next one, or to the next block without one, or to where the code goes
// elsewhere. What a comparison of floats leads to may have no hook of its own: then a jump goes on with the
// same piece. No instruction is read twice. nvcc may fuse any product with any sum of these, so of the two
// kinds only the one with more counts.
std::uint32_t BlockWork::read(std::uint64_t code_offset, CallPaths::Path path) {
  const std::uintptr_t end = code_begin_ + code_bytes_;
  std::uintptr_t at = code_begin_ + code_offset + 1;  // the offset lies within the call, at its last byte
  const auto decode_at = [](std::uintptr_t address) {
    return decode(reinterpret_cast<const std::uint8_t*>(address));
  };
  const bool noted = merged_.begins(code_offset);  // then the notes have all blocks of the module
  constexpr unsigned kCallBytes = 5, kCallByBytes = 6;
  MachineInstruction hook = decode_at(at - kCallBytes);
  if (hook.does != Does::call || hook.bytes != kCallBytes) hook = decode_at(at - kCallByBytes);
  std::vector<Piece> pieces;
  struct Floats {  // that instructions of a kind compute
    std::vector<std::pair<std::uintptr_t, std::uint32_t>> by_instruction;
    std::uint32_t all = 0;
    void add(std::uintptr_t at, std::uint32_t floats) {
      by_instruction.emplace_back(at, floats);
      all += floats;
    }
  } sums, products;
  std::set<std::uintptr_t> seen;
  int jumps = 0;
  while (jumps <= kMostJumps && at >= code_begin_ && at < end && seen.insert(at).second) {
    const MachineInstruction instruction = decode_at(at);
    if (instruction.bytes == 0 || instruction.does == Does::leaves || instruction.does == Does::jump_by)
      break;
    const bool begins = noted ? merged_.begins(at + instruction.bytes - 1 - code_begin_)
                              : instruction.does == hook.does && instruction.target == hook.target;
    if (begins) break;
    switch (instruction.does) {
      case Does::add:
        sums.add(at, instruction.floats);
        break;
      case Does::multiply:
        products.add(at, instruction.floats);
        break;
      case Does::fused:
        add(pieces, at, path, instruction.floats, 0);
        break;
      case Does::special:
        add(pieces, at, path, 0, instruction.floats);
        break;
      case Does::call:
      case Does::call_by:
        if (const std::uint32_t uses =
                specials_of_call(instruction.target, instruction.does == Does::call_by))
          add(pieces, at, path, 0, uses);
        break;
      default:
        break;
    }
    jumps += instruction.does == Does::jump ? 1 : 0;
    at = instruction.does == Does::jump ? instruction.target : at + instruction.bytes;
  }
  for (const auto& [counted, floats] : (sums.all > products.all ? sums : products).by_instruction)
    add(pieces, counted, path, floats, 0);
  if (pieces.empty()) return kNothing;
  blocks_.push_back(std::move(pieces));
  return static_cast<std::uint32_t>(blocks_.size()) - 1 + kFirst;
}

void BlockWork::add(std::vector<Piece>& pieces, std::uintptr_t at, CallPaths::Path path, std::uint32_t floats,
                    std::uint32_t specials) {
  const auto code = static_cast<std::uint32_t>(at - code_begin_);
  // By value: to find a site may make one, and the table then moves.
  const auto line_of = [&](std::uint32_t offset) -> SourceLine {
    return sites_[sites_.find(offset, path)].line;
  };
  const SourceLine line = line_of(code);
  auto piece = std::find_if(pieces.begin(), pieces.end(),
                            [&](const Piece& other) { return line_of(other.code) == line; });
  if (piece == pieces.end()) piece = pieces.insert(pieces.end(), {code, 0, 0});
  piece->floats += floats;
  piece->specials += specials;
}

// A function of another library is called through a pointer, by a stub of the linker's or directly.
std::uint32_t BlockWork::specials_of_call(std::uintptr_t target, bool by_pointer) const {
  if (!by_pointer) {
    for (int i = 0; i < 2; ++i) {  // the stub may begin with a mark for indirect branches
      const MachineInstruction instruction = decode(reinterpret_cast<const std::uint8_t*>(target));
      if (instruction.does == Does::jump_by) {
        target = instruction.target;
        by_pointer = true;
        break;
      }
      if (instruction.bytes == 0 || instruction.does != Does::other) return 0;
      target += instruction.bytes;
    }
    if (!by_pointer) return 0;
  }
  const auto import = imports_.find(target);
  if (import == imports_.end()) return 0;
  for (const SpecialFunction& function : kSpecialFunctions)
    if (function.name == import->second) return function.uses;
  return 0;
}

void BlockWork::read_imports() {
  imports_.clear();
  const auto visit = [](dl_phdr_info* object, std::size_t, void* data) {
    auto& self = *static_cast<BlockWork*>(data);
    const ElfW(Dyn)* dynamic = nullptr;
    bool is_it = false;
    for (const ElfW(Phdr) & part : std::span(object->dlpi_phdr, object->dlpi_phnum)) {
      const std::uintptr_t begin = object->dlpi_addr + part.p_vaddr;
      if (part.p_type == PT_DYNAMIC) dynamic = reinterpret_cast<const ElfW(Dyn)*>(begin);
      if (part.p_type == PT_LOAD && self.code_begin_ >= begin && self.code_begin_ - begin < part.p_memsz)
        is_it = true;
    }
    if (!is_it || dynamic == nullptr) return 0;
    const ElfW(Sym)* symbols = nullptr;
    const char* names = nullptr;
    const ElfW(Rela) * tables[2] = {};
    std::size_t bytes[2] = {};
    for (; dynamic->d_tag != DT_NULL; ++dynamic) {
      // The dynamic linker of glibc has added the base to these.
      const auto address = [&] { return reinterpret_cast<const void*>(dynamic->d_un.d_ptr); };
      switch (dynamic->d_tag) {
        case DT_SYMTAB:
          symbols = static_cast<const ElfW(Sym)*>(address());
          break;
        case DT_STRTAB:
          names = static_cast<const char*>(address());
          break;
        case DT_JMPREL:
          tables[0] = static_cast<const ElfW(Rela)*>(address());
          break;
        case DT_PLTRELSZ:
          bytes[0] = dynamic->d_un.d_val;
          break;
        case DT_RELA:
          tables[1] = static_cast<const ElfW(Rela)*>(address());
          break;
        case DT_RELASZ:
          bytes[1] = dynamic->d_un.d_val;
          break;
        default:
          break;
      }
    }
    if (symbols == nullptr || names == nullptr) return 1;
    for (int table = 0; table < 2; ++table)
      for (const ElfW(Rela) & entry : std::span(tables[table], bytes[table] / sizeof(ElfW(Rela))))
        if (const auto symbol = ELF64_R_SYM(entry.r_info); symbol != 0)
          self.imports_[object->dlpi_addr + entry.r_offset] = names + symbols[symbol].st_name;
    return 1;
  };
  dl_iterate_phdr(visit, this);
}

}  // namespace simt::check
