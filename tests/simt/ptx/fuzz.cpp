// simt-ptx-fuzz [--seconds N] [--seed N]
// Feeds the front end with templates made of pieces of PTX, whole and broken. Each is read or refused in one
// sentence with a place inside it; nothing else may happen.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>

#include "simt/ptx/table.hpp"

namespace {

using namespace simt::ptx;

constexpr const char* kPieces[] = {"{",
                                   "}",
                                   "[",
                                   "]",
                                   ";",
                                   ",",
                                   "|",
                                   "@",
                                   "!",
                                   "@!",
                                   "%0",
                                   "%1",
                                   "%9",
                                   "%",
                                   "%%",
                                   "%=",
                                   "%%laneid",
                                   "%%tid.x",
                                   ":",
                                   "::",
                                   ".",
                                   "_",
                                   "-",
                                   "+",
                                   "0x",
                                   "0f3F800000",
                                   "0d",
                                   "1.5",
                                   "077",
                                   "1e",
                                   "4294967296",
                                   "99999999999999999999999",
                                   "16",
                                   ".reg",
                                   ".pred",
                                   ".b32",
                                   ".b64",
                                   ".f32",
                                   "p",
                                   "q",
                                   "r<4>",
                                   "r<99999>",
                                   "r1",
                                   "L",
                                   "L:",
                                   "bra",
                                   "bra.uni L;",
                                   "//",
                                   "/*",
                                   "*/",
                                   "\n",
                                   " ",
                                   "\\",
                                   "add.u32 ",
                                   "ex2.approx.ftz.f32 ",
                                   "ld.global.v4.f32 ",
                                   "cp.async.cg.shared.global ",
                                   "setp.lt.s32 ",
                                   "mov.b64 ",
                                   "\"",
                                   "\0x",
                                   "{%0, %1}",
                                   "[%0+4]",
                                   "[%0+-",
                                   "WARP_SZ",
                                   "$",
                                   "\xff",
                                   "selp.b32 ",
                                   "@p "};

class Maker {
 public:
  explicit Maker(std::uint64_t seed) : engine_(seed) {}

  std::string make() {
    std::string text = below(2) == 0 ? "" : "{ .reg .pred p, q; .reg .b32 r<4>; ";
    for (std::size_t count = below(24); count > 0; --count) {
      switch (below(6)) {
        case 0:
          text += instruction();
          break;
        case 1:
          text += static_cast<char>(below(256));
          break;
        default:
          text += kPieces[below(std::size(kPieces))];
          text += below(2) == 0 ? " " : "";
      }
    }
    if (below(2) == 0) text += " }";
    return text;
  }

  std::string constraints() {
    std::string result;
    for (std::size_t count = below(5); count > 0; --count) {
      result += " =+"[below(3)];
      result += "hrlqfdnC"[below(8)];
    }
    return result;
  }

 private:
  std::size_t below(std::size_t limit) {
    return std::uniform_int_distribution<std::size_t>(0, limit - 1)(engine_);
  }

  /// A row of the table as its syntax has it, with the braces of what may be left out, and at times changed.
  std::string instruction() {
    std::string text = syntax_of(table()[below(table().size())]);
    for (std::size_t changes = below(4); changes > 0; --changes) {
      const std::size_t at = below(text.size());
      if (below(2) == 0)
        text.erase(at, 1);
      else
        text.insert(at, kPieces[below(std::size(kPieces))]);
      if (text.empty()) break;
    }
    return text;
  }

  std::mt19937_64 engine_;
};

/// False: something else happened than reading or refusing.
bool try_one(const std::string& text, const std::string& constraints) {
  try {
    std::vector<AsmOperand> operands = operands_of(constraints);
    const Template read = parse(text, operands);
    for (const Instruction& instruction : read.instructions) {
      const Match found = match(read, instruction);
      if (found.row >= table().size()) return false;
    }
  } catch (const PtxError& error) {
    const std::string_view message = error.what();
    return error.offset <= text.size() && message.size() > 10 &&
           (message.ends_with('.') || message.ends_with(';'));
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  double seconds = 3;
  std::uint64_t seed = 1;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::string_view(argv[i]) == "--seconds") seconds = std::atof(argv[i + 1]);
    if (std::string_view(argv[i]) == "--seed") seed = std::strtoull(argv[i + 1], nullptr, 10);
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  std::uint64_t count = 0;
  for (; std::chrono::steady_clock::now() < end; ++count) {
    Maker maker(seed + count);
    const std::string text = maker.make(), constraints = maker.constraints();
    if (!try_one(text, constraints)) {
      std::printf("seed %llu, constraints '%s':\n%s\n", static_cast<unsigned long long>(seed + count),
                  constraints.c_str(), text.c_str());
      return 1;
    }
  }
  std::printf("%llu templates were read or refused\n", static_cast<unsigned long long>(count));
  return 0;
}
