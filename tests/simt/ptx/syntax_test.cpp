// The template of an asm statement, read.

#include "simt/ptx/syntax.hpp"

#include <string>

#include "support/catch.hpp"

using Catch::Matchers::ContainsSubstring;
using namespace simt::ptx;

namespace {

/// What parsing is refused with, or nothing.
std::string refusal(std::string_view text, const char* constraints = "=r r r") {
  try {
    parse(text, operands_of(constraints));
  } catch (const PtxError& error) {
    CHECK(error.offset <= text.size());
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a template holds instructions with operands of all kinds", "[ptx][syntax]") {
  const Template read = parse("mad.lo.s32 %0, %1, -3, 0x10; ld.v2.u32 {%0, _}, [%1+8]; mov.u32 %0, %%laneid;",
                              operands_of("=r r"));
  REQUIRE(read.instructions.size() == 3);
  const Instruction& mad = read.instructions[0];
  CHECK(mad.opcode == "mad.lo.s32");
  CHECK(mad.words == std::vector<std::string_view>{"mad", "lo", "s32"});
  REQUIRE(mad.operands.size() == 4);
  CHECK(mad.operands[0].kind == Operand::Kind::reg);
  CHECK(mad.operands[2].value == static_cast<std::uint64_t>(-3));
  CHECK(mad.operands[3].value == 16);
  const Instruction& load = read.instructions[1];
  CHECK(load.operands[0].kind == Operand::Kind::vector);
  CHECK(load.operands[0].parts[1].kind == Operand::Kind::nothing);
  CHECK(load.operands[1].kind == Operand::Kind::address);
  CHECK(load.operands[1].offset == 8);
  CHECK(read.instructions[2].operands[1].kind == Operand::Kind::special);
  CHECK(read.instructions[2].operands[1].text == "laneid");
}

TEST_CASE("numbers are read as PTX writes them", "[ptx][syntax]") {
  const auto number = [](const std::string& text) {
    return parse("f " + text + ";", {}).instructions[0].operands[0];
  };
  CHECK(number("017").value == 15);
  CHECK(number("0b101").value == 5);
  CHECK(number("7U").value == 7);
  CHECK(number("- 7").value == static_cast<std::uint64_t>(-7));
  CHECK(number("0xffffffffffffffff").value == ~std::uint64_t{0});
  CHECK(number("0f3F800000").type == Type::f32);
  CHECK(number("0f3F800000").value == 0x3f800000);
  CHECK(number("0d3FF0000000000000").type == Type::f64);
  CHECK(number("1.5e-3").kind == Operand::Kind::real);
  for (const char* bad : {"0f3F8", "08", "1.2.3", "0xg", "99999999999999999999", "-", "1e"}) {
    CAPTURE(bad);
    CHECK_THAT(refusal(std::string("f ") + bad + ";"), ContainsSubstring("no number"));
  }
}

TEST_CASE("a register of an inner scope hides one outside, and ends with its braces", "[ptx][syntax]") {
  const Template read = parse("{ .reg .b32 t; { .reg .f32 t; a t; } b t; }", {});
  REQUIRE(read.registers.size() == 2);
  CHECK(read.registers[read.instructions[0].operands[0].reg].type == Type::f32);
  CHECK(read.registers[read.instructions[1].operands[0].reg].type == Type::b32);
  CHECK(parse("{ .reg .b32 t; } a t;", {}).instructions[0].operands[0].kind == Operand::Kind::name);
  CHECK(parse(".reg .b32 %r<3>; a %r2, %%r0;", {}).registers.size() == 3);
}

TEST_CASE("a branch leads to the nearest label of its name", "[ptx][syntax]") {
  const Template good = parse("{ .reg .pred p; A: x; { A: y; bra A; } @!p bra A; z; }", {});
  CHECK(good.instructions[2].target == 1);
  CHECK(good.instructions[3].target == 0);
  CHECK(good.instructions[3].guard_negated);
}

TEST_CASE("strings of constant operands become part of the template", "[ptx][syntax]") {
  AsmOperand string{' ', 'C'};
  string.text = "f32";
  const Template read = parse("add.%1 %0, %0, %0; // 100%", {{'+', 'f'}, string});
  CHECK(read.instructions[0].opcode == "add.f32");
}

TEST_CASE("what cannot be read is refused in one sentence", "[ptx][syntax]") {
  CHECK_THAT(refusal("add.u32 %0, %1, %7;"),
             ContainsSubstring("operands %0 to %2") && ContainsSubstring("%7"));
  CHECK_THAT(refusal("{ add.u32 %0, %1, %2;"), ContainsSubstring("has no '}'"));
  CHECK_THAT(refusal("}"), ContainsSubstring("has no '{'"));
  CHECK_THAT(refusal("add.u32 %0, %1, %2"), ContainsSubstring("needs a ';'"));
  CHECK_THAT(refusal("bra THERE;"), ContainsSubstring("'THERE'"));
  CHECK_THAT(refusal("@%0 bra X; X:"), ContainsSubstring(".reg .pred"));
  CHECK_THAT(refusal(".reg .b7 x;"), ContainsSubstring("cannot be of type"));
  CHECK_THAT(refusal(".reg .b32 x, x;"), ContainsSubstring("declared twice"));
  CHECK_THAT(refusal(".shared .b32 x;"), ContainsSubstring("'.reg'"));
  CHECK_THAT(refusal("A: x; A: y;"), ContainsSubstring("stands here twice"));
  CHECK_THAT(refusal("ld.u32 %0, [%1+%2];"), ContainsSubstring("stands a constant"));
  CHECK_THAT(refusal("/* x"), ContainsSubstring("'*/'"));
  CHECK_THAT(refusal("ld.u32 %0, [%1"), ContainsSubstring("end of an address"));
}
