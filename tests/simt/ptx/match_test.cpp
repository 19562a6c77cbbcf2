// Which row of the table an instruction is, and what does not fit.

#include <string>

#include "simt/ptx/table.hpp"
#include "support/catch.hpp"

using Catch::Matchers::ContainsSubstring;
using namespace simt::ptx;

namespace {

/// What an instruction is refused with, or nothing.
std::string refusal(const std::string& text, const char* constraints = "=r r r f d h l") {
  try {
    const Template read = parse(text, operands_of(constraints));
    for (const Instruction& instruction : read.instructions) match(read, instruction);
  } catch (const PtxError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("every row of the table can be written as its syntax says", "[ptx][match]") {
  for (const Entry& entry : table()) {
    const std::string syntax = syntax_of(entry);
    CAPTURE(syntax);
    CHECK(syntax.starts_with(entry.name));
    CHECK(syntax.ends_with(";"));
    CHECK(entry.section.size() > 0);
    CHECK(entry.what.ends_with("."));
  }
}

TEST_CASE("an unknown instruction is told with the nearest known one", "[ptx][match]") {
  const auto nearest = [](const std::string& text, const std::string& near) {
    CAPTURE(text);
    CHECK_THAT(refusal(text), ContainsSubstring("'" + near + "'"));
  };
  nearest("ex3.approx.ftz.f32 %3, %3;", "ex2.approx.ftz.f32");
  nearest("ex2.approx.fzt.f32 %3, %3;", "ex2.approx.ftz.f32");
  nearest("ex2.f32 %3, %3;", "ex2.approx.f32");
  nearest("MOV.u32 %0, %1;", "mov.u32");
  nearest("ld.globl.nc.v4.f32 {%3, %3, %3, %3}, [%6];", "ld.global.nc.v4.f32");
  nearest("cp.async.cg.global.shared [%1], [%6], 16;", "cp.async.cg.shared.global");
  nearest("cp.async.comit_group;", "cp.async.commit_group");
  nearest("shfl.bfly.b32 %0, %1, 1, 31;", "shfl.sync.bfly.b32");
  nearest("fma.f32 %3, %3, %3, %3;", "fma.rn.f32");
}

TEST_CASE("an instruction of later GPUs is told with what it belongs to", "[ptx][match]") {
  CHECK_THAT(refusal("mapa.shared::cluster.u32 %0, %1, 0;"),
             ContainsSubstring("clusters of blocks") && ContainsSubstring("-arch=sm_80"));
  CHECK_THAT(refusal("mbarrier.init.shared.b64 [%1], 1;"), ContainsSubstring("barriers in shared memory"));
  CHECK_THAT(refusal("wgmma.fence.sync.aligned;"), ContainsSubstring("warpgroup products"));
  CHECK_THAT(refusal("cp.async.bulk.commit_group;"), ContainsSubstring("bulk copies"));
  CHECK_THAT(refusal("barrier.cluster.arrive;"), ContainsSubstring("clusters of blocks"));
}

TEST_CASE("comparisons have the relations of their types", "[ptx][match]") {
  const auto with_p = [](const std::string& text) { return refusal("{ .reg .pred p, q; " + text + " }"); };
  CHECK(with_p("setp.eq.b32 p, %1, %2;") == "");
  CHECK(with_p("setp.lo.u32 p|q, %1, %2;") == "");
  CHECK(with_p("setp.ltu.bf16x2 p|q, %1, %2;") == "");
  CHECK_THAT(with_p("setp.lt.b32 p, %1, %2;"), ContainsSubstring("bits are .eq or .ne"));
  CHECK_THAT(with_p("setp.hi.s32 p, %1, %2;"), ContainsSubstring("There is no '.hi' of type .s32"));
  CHECK_THAT(with_p("set.lt.u32.b32 %0, %1, %2;"), ContainsSubstring("bits are .eq or .ne"));
  CHECK_THAT(with_p("setp.lt.f16 p|q, %5, %5;"), ContainsSubstring("no pair of results"));
  CHECK_THAT(with_p("setp.lt.f16x2 p, %1, %2;"), ContainsSubstring("a '|' and a predicate are missing"));
}

TEST_CASE("vectors are added to memory in the lengths that PTX has", "[ptx][match]") {
  CHECK(refusal("red.global.add.v2.f32 [%6], {%3, %4};", "=r r r f f h l") == "");
  CHECK(refusal("red.global.add.noftz.v8.bf16 [%5], {%4, %4, %4, %4, %4, %4, %4, %4};", "=r r r f h l") ==
        "");
  CHECK_THAT(refusal("red.global.add.v8.f32 [%6], {%3, %3, %3, %3, %3, %3, %3, %3};"),
             ContainsSubstring("'red.global.add.v2.f32'"));
  CHECK_THAT(refusal("red.shared.add.v2.f32 [%1], {%3, %3};"), ContainsSubstring("'red.shared.add.f32'"));
  CHECK_THAT(refusal("red.global.min.noftz.f16x2 [%6], %1;"), ContainsSubstring("nearest one"));
  CHECK_THAT(refusal("red.global.add.v4.f32 [%6], {%3, %3};"), ContainsSubstring("a vector of 4"));
}

TEST_CASE("operands have the number and the types of their row", "[ptx][match]") {
  CHECK(refusal("add.u32 %0, %1, %2;") == "");
  CHECK(refusal("add.f32 %0, %1, %2;") == "");  // registers of 32 bits of any kind
  CHECK_THAT(refusal("add.u32 %0, %1;"), ContainsSubstring("d, a, b") && ContainsSubstring("here are 2"));
  CHECK_THAT(refusal("add.u32 %0, %1, %2, %2;"), ContainsSubstring("here are 4"));
  CHECK_THAT(refusal("add.u32 %0, %1, %3;"), ContainsSubstring("'%3' is a register of type .f32"));
  CHECK_THAT(refusal("add.u32 %0, %1, %6;"), ContainsSubstring("'%6' is a register of type .b64"));
  CHECK_THAT(refusal("add.f32 %3, %3, 1;"), ContainsSubstring("with a point"));
  CHECK(refusal("add.f32 %3, %3, 1.0;") == "");
  CHECK_THAT(refusal("add.u32 5, %1, %2;"), ContainsSubstring("cannot be written"));
  CHECK_THAT(refusal("add.u32 %0, %1, x;"), ContainsSubstring("'.reg'"));
  CHECK_THAT(refusal("add.u32 %0, %%tid.x, %2;"), ContainsSubstring("'mov'"));
  CHECK_THAT(refusal("mov.u32 %0, %%lanid;"), ContainsSubstring("'%laneid'"));
  CHECK_THAT(refusal("add.u32 %0, !%1, %2;"), ContainsSubstring("negated"));
}

TEST_CASE("addresses, vectors and constants are what their place asks for", "[ptx][match]") {
  CHECK(refusal("ld.shared.u32 %0, [%1];") == "");
  CHECK(refusal("ld.shared.u32 %0, [%6];") == "");
  CHECK_THAT(refusal("ld.global.u32 %0, [%1];"), ContainsSubstring("has 64 bits"));
  CHECK_THAT(refusal("ld.global.u32 %0, %6;"), ContainsSubstring("in brackets"));
  CHECK_THAT(refusal("ld.global.v4.u32 {%0, %0}, [%6];"), ContainsSubstring("vector of 4"));
  CHECK_THAT(refusal("ld.global.v4.b64 {%6, %6, %6, %6}, [%6];"), ContainsSubstring("at most 16 bytes"));
  CHECK_THAT(refusal("cp.async.cg.shared.global [%1], [%6], 8;"), ContainsSubstring("is 16, and here is 8"));
  CHECK_THAT(refusal("cp.async.ca.shared.global [%1], [%6], 12;"), ContainsSubstring("4, 8 or 16"));
  CHECK_THAT(refusal("cp.async.wait_group %1;"), ContainsSubstring("a constant"));
  CHECK_THAT(refusal("ld.global.L2::cache_hint.u32 %0, [%6];"), ContainsSubstring("policy"));
  CHECK_THAT(refusal("ld.global.u32 %0, [%6], %6;"), ContainsSubstring("L2::cache_hint"));
  CHECK_THAT(refusal("atom.global.add.b32 %0, [%6], %1;"),
             ContainsSubstring("There is no '.add' of type .b32"));
}
