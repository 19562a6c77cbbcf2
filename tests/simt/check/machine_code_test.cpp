// Machine code of x86-64, as it is counted: lengths and kinds of instructions, written as an assembler would.

#include "simt/check/machine_code.hpp"

#include <vector>

#include "support/catch.hpp"

using simt::check::decode;
using simt::check::MachineInstruction;
using Does = MachineInstruction::Does;

namespace {

struct Code {
  const char* text;
  std::vector<std::uint8_t> bytes;
  Does does;
  unsigned floats = 1;
};

}  // namespace

TEST_CASE("machine code is read with its length and what it computes", "[check][machine_code]") {
  const Code code = GENERATE(values<Code>({
      {"vaddss %xmm1,%xmm0,%xmm0", {0xc5, 0xfa, 0x58, 0xc1}, Does::add},
      {"subss %xmm1,%xmm0", {0xf3, 0x0f, 0x5c, 0xc1}, Does::add},
      {"addsd %xmm1,%xmm0", {0xf2, 0x0f, 0x58, 0xc1}, Does::other},
      {"vmulss 0x8(%rax,%rcx,4),%xmm0,%xmm1", {0xc5, 0xfa, 0x59, 0x4c, 0x88, 0x08}, Does::multiply},
      {"vfmadd231ss %xmm2,%xmm1,%xmm0", {0xc4, 0xe2, 0x71, 0xb9, 0xc2}, Does::fused},
      {"vfmadd231sd %xmm2,%xmm1,%xmm0", {0xc4, 0xe2, 0xf1, 0xb9, 0xc2}, Does::other},
      {"vdivss 0x10(%rip),%xmm0,%xmm0", {0xc5, 0xfa, 0x5e, 0x05, 0x10, 0, 0, 0}, Does::special},
      {"sqrtss %xmm0,%xmm0", {0xf3, 0x0f, 0x51, 0xc0}, Does::special},
      {"addps %xmm1,%xmm0", {0x0f, 0x58, 0xc1}, Does::add, 4},
      {"vmulps %ymm1,%ymm0,%ymm0", {0xc5, 0xfc, 0x59, 0xc1}, Does::multiply, 8},
      {"vfmadd231ps %ymm2,%ymm1,%ymm0", {0xc4, 0xe2, 0x75, 0xb8, 0xc2}, Does::fused, 8},
      {"vfmaddsub213ps %xmm2,%xmm1,%xmm0", {0xc4, 0xe2, 0x71, 0xa6, 0xc2}, Does::fused, 4},
      {"movabs $1,%rax", {0x48, 0xb8, 1, 0, 0, 0, 0, 0, 0, 0}, Does::other},
      {"lock xadd %eax,0xc(%rbx)", {0xf0, 0x0f, 0xc1, 0x43, 0x0c}, Does::other},
      {"movw $1,(%rax)", {0x66, 0xc7, 0x00, 0x01, 0x00}, Does::other},
      {"testl $1,(%rax)", {0xf7, 0x00, 1, 0, 0, 0}, Does::other},
      {"negl (%rax)", {0xf7, 0x18}, Does::other},
      {"je far", {0x0f, 0x84, 1, 0, 0, 0}, Does::other},
      {"jmp far", {0xe9, 1, 0, 0, 0}, Does::jump},
      {"ret", {0xc3}, Does::leaves},
      {"vpinsrd $1,%eax,%xmm0,%xmm0", {0xc4, 0xe3, 0x79, 0x22, 0xc0, 0x01}, Does::other},
      {"call *0x10(%rip)", {0xff, 0x15, 0x10, 0, 0, 0}, Does::call_by},
      {"mov 0x0(,%rax,8),%rcx", {0x48, 0x8b, 0x0c, 0xc5, 0, 0, 0, 0}, Does::other},
  }));
  std::vector<std::uint8_t> padded = code.bytes;
  padded.resize(padded.size() + 16, 0x90);
  INFO(code.text);
  const MachineInstruction found = decode(padded.data());
  CHECK(found.bytes == code.bytes.size());
  CHECK(found.does == code.does);
  if (code.does != Does::other && code.does < Does::call) CHECK(found.floats == code.floats);
}

TEST_CASE("a jump knows its target, forwards and backwards", "[check][machine_code]") {
  const std::uint8_t far[16] = {0xe9, 0x10, 0, 0, 0}, near[16] = {0xeb, 0xf0};
  CHECK(decode(far).target == reinterpret_cast<std::uintptr_t>(far) + 5 + 0x10);
  CHECK(decode(near).target == reinterpret_cast<std::uintptr_t>(near) + 2 - 0x10);
}

TEST_CASE("a call knows its target, and code that is not understood has no length", "[check][machine_code]") {
  const std::uint8_t call[16] = {0xe8, 0x10, 0, 0, 0};
  CHECK(decode(call).does == Does::call);
  CHECK(decode(call).target == reinterpret_cast<std::uintptr_t>(call) + 5 + 0x10);
  const std::uint8_t evex[16] = {0x62, 0xf1, 0x7c, 0x48, 0x58, 0xc1};
  CHECK(decode(evex).bytes == 0);
}
