// Inline PTX: what an asm statement becomes, and what is refused.

#include "support.hpp"

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;
using simt::test::refusal;
using simt::test::rewritten;

TEST_CASE("an asm statement becomes a call with its operands in order", "[rewriter][ptx]") {
  CHECK(rewritten("asm volatile(\"bar.sync 0;\");") == "SIMT_PTX(\"bar.sync 0;\");");
  CHECK(rewritten("asm(\"ex2.approx.ftz.f32 %0, %1;\" : \"=f\"(y) : \"f\"(x));") ==
        "SIMT_PTX(\"ex2.approx.ftz.f32 %0, %1;\"  , ::simt::inline_ptx::out<'f'>(y)  , "
        "::simt::inline_ptx::in<'f'>(x));");
  CHECK(rewritten("__asm__ __volatile__(\"add.u32 %0, %0, 1;\" : \"+r\"(n[i]) :: \"memory\");") ==
        "SIMT_PTX(\"add.u32 %0, %0, 1;\"  , ::simt::inline_ptx::inout<'r'>(n[i])  );");
}

TEST_CASE("an asm statement keeps its lines", "[rewriter][ptx]") {
  CHECK(rewritten("asm volatile(\n\"membar.gl;\"\n:\n: // none\n: \"memory\"\n);") ==
        "SIMT_PTX(\n\"membar.gl;\"\n\n // none\n \n);");
}

TEST_CASE("an asm statement in a macro may take its template from parameters", "[rewriter][ptx]") {
  CHECK(rewritten("#define WAIT(n) asm volatile(\"cp.async.wait_group \" #n \";\" ::: \"memory\")\n") ==
        "#define WAIT(n) SIMT_PTX(\"cp.async.wait_group \" #n \";\"  )\n");
  CHECK(refusal("#define WAIT(n) asm volatile(\"cp.async.wait_group %0;\" :: \"n\"(n))") == "");
}

TEST_CASE("assembly of the host stays", "[rewriter][ptx]") {
  const std::string host = "asm volatile(\"mtfsf 255,%0\" : : \"f\"(mode));";
  const std::string kernel = "__global__ void k() {}\n";
  for (const std::string function :
       {"void f(double mode) { ", "namespace n { struct S { static void f(double mode) { if (mode) { ",
        "extern \"C\" { template <class T> inline void f(T mode) { "})
    CHECK_THAT(rewritten(kernel + function + host), ContainsSubstring(host));
  for (const std::string function :
       {"__device__ void f(double mode) { ",
        "struct S { template <class T> __device__ void f(T mode) const { ",
        "void f() { g([=] __device__(double mode) { ", "__host__ __device__ void f() { if (mode) { ",
        "HEADER_DEVICE void f(double mode) { "})
    CHECK_THAT(refusal(kernel + function + host), ContainsSubstring("mtfsf"));
}

TEST_CASE("PTX that is written out is judged at its line", "[rewriter][ptx][error]") {
  CHECK_THAT(
      refusal("int x;\n\nf(); asm(\"trap;\\n\"\n  \"trip;\");"),
      StartsWith("4: The simulator does not know the PTX instruction 'trip'") && ContainsSubstring("'trap'"));
  CHECK_THAT(refusal("asm(\"add.f32 %0, %0, %1;\" : \"+f\"(x) : \"l\"(p));"),
             ContainsSubstring("'%1' is a register of type .b64"));
  CHECK_THAT(refusal("asm(R\"(\n\n  ex2.aprox.f32 %0, %1;)\" : \"=f\"(y) : \"f\"(x));"),
             StartsWith("3: ") && ContainsSubstring("'ex2.approx.f32'"));
}

TEST_CASE("operands of asm that nvcc refuses are refused", "[rewriter][ptx][error]") {
  CHECK_THAT(refusal("asm(\"trap;\" :: \"m\"(x));"), ContainsSubstring("The operand \"m\""));
  CHECK_THAT(refusal("asm(\"trap;\" : \"r\"(x));"), ContainsSubstring("among its results"));
  CHECK_THAT(refusal("asm(\"trap;\" :: \"=r\"(x));"), ContainsSubstring("among its inputs"));
  CHECK_THAT(refusal("asm(\"trap;\" : [x] \"=r\"(x));"), ContainsSubstring("no names"));
  CHECK_THAT(refusal("asm(\"trap;\" : \"=r\" x);"), ContainsSubstring("in parentheses"));
  CHECK_THAT(refusal("asm(\"trap;\" : \"=r\"(x) \"=r\"(y));"), ContainsSubstring("A comma is missing"));
  CHECK_THAT(refusal("asm(\"trap;\" ::: \"cc\");"), ContainsSubstring("\"memory\""));
  CHECK_THAT(refusal("asm(\"trap;\" ::: \"memory\" : label);"), ContainsSubstring("jumps to labels"));
  CHECK_THAT(refusal("asm goto(\"trap;\");"), ContainsSubstring("jumps to labels"));
  CHECK_THAT(refusal("asm(:: \"r\"(x));"), ContainsSubstring("template"));
  CHECK_THAT(refusal("asm(\"trap;\""), ContainsSubstring("never closed"));
}
