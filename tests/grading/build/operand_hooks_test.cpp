// Hooks for operands of calls that lie in memory. The texts are as g++ 12 writes them.
#include "grading/build/operand_hooks.hpp"

#include <string>

#include "grading/build/compiler_text.hpp"
#include "grading/build/frame_addresses.hpp"
#include "support/catch.hpp"

using namespace course::grading;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr const char* kRead = "\tcall\tcourse_operand_read\n";
constexpr const char* kWrite = "\tcall\tcourse_operand_write\n";

constexpr const char* kFunction =
    ";; Function course::add (add, funcdef_no=7, decl_uid=76, cgraph_uid=6, symbol_order=9)\n\n";

/// A function of these instructions, whose dump after all optimisations has that statement, and the one of
/// accesses those lines; with hooks, and without what they call.
std::string hooked(const std::string& statement, const std::string& instructions,
                   const std::string& accesses = "") {
  const std::string assembly =
      "\t.text\n\t.type\tadd, @function\nadd:\n" + instructions +
      "\tret\n\t.type\tother, @function\nother:\n\tmovss\t(%rbx), %xmm0\n\tcall\tf\n";
  const std::string optimized =
      kFunction + std::string("  <bb 2> [local count: 9]:\n  [a.cu:3:7 discrim 2] ") + statement + "\n\n}\n";
  const std::string text =
      with_operand_hooks(assembly, {.optimized = optimized, .accesses = kFunction + accesses, .blocks = {}});
  return text.substr(0, text.find("  .text\n"));
}

bool has_hooks(const std::string& statement) {
  const std::string text = hooked(statement, "\tmovss\t(%rbx), %xmm0\n\tcall\tf\n");
  return text.find("course_operand_read") < text.find("other:");
}

}  // namespace

TEST_CASE("a load of what a call hands over is hooked, with its address and bytes") {
  const std::string text =
      hooked("_1 = f ([a.cu:3:9] *one_2);", "\tmovss\t4(%rbx,%rax,4), %xmm0\n\tcall\tf\n");
  CHECK_THAT(text,
             ContainsSubstring("\tleaq\t4(%rbx,%rax,4), %r11\n\tmovq\t$4, %r10\n" + std::string(kRead)));
  CHECK(text.find(kRead) < text.find("\tmovss\t4(%rbx,%rax,4), %xmm0\n"));
  CHECK(text.find("course_operand_read", text.find("other:")) == std::string::npos);
}

TEST_CASE("functions with such operands are found by their dump, and others are left alone") {
  CHECK(has_hooks("f (MEM[(const struct View &)_5]);"));
  CHECK(has_hooks("_3 = _4 (a_2(D), this_1(D)->tile, 5);"));
  CHECK(has_hooks("f (table[i_2]);"));
  CHECK(has_hooks("f (box);"));
  CHECK(has_hooks("course::f__builtin___of (*_2);"));
  CHECK(has_hooks("*_2 = f (_3);"));
  CHECK(has_hooks(R"(_1 = course::f<'\"'> (*_3);)"));
  CHECK(has_hooks(R"(_1 = course::f<'"', '\\', '\''> (*_3);)"));
  CHECK(has_hooks("MEM[(struct Big *)_58] = course::big_of (1.0e+0); [return slot optimization]"));
  CHECK_FALSE(has_hooks("_1 = f (_2, x_3(D), 1.5e+0, &*_4, &table[i_2], D.134386);"));
  CHECK_FALSE(has_hooks("puts (&\"f (*x)\"[0]);"));
  CHECK_FALSE(has_hooks(R"(_1 = course::f<'\"'> (_3);)"));
  CHECK_FALSE(has_hooks("_5 = *one_2;"));
  CHECK_FALSE(has_hooks("__builtin___tsan_read4 (*_4);"));
}

TEST_CASE("a function is known by the name that its author gives it for the assembler") {
  for (const std::string name : {"twice", "twice.cold"}) {
    const std::string text = with_operand_hooks(
        "\t.type\t" + name + ", @function\n" + name + ":\n\tmovss\t(%rbx), %xmm0\n\tcall\tf\n",
        {.optimized =
             ";; Function twice (*" + name + ", funcdef_no=7, d=1)\n\n  <bb 2>:\n  _1 = f (*one_2);\n",
         .accesses = {},
         .blocks = {}});
    CHECK_THAT(text.substr(0, text.find("  .text\n")), ContainsSubstring(kRead));
  }
}

TEST_CASE("a load that a hook of the compiler's follows belongs to no call") {
  const std::string text = hooked("f (*one_2);",
                                  "\tmovl\t(%rbx), %eax\n\tcall\t__tsan_read4@PLT\n\tmovq\t(%rbx), %rdi\n"
                                  "\tjmp\t.L2\n.L2:\n\tcall\tf\n");
  CHECK(text.find("\tmovl\t(%rbx), %eax\n\tcall\t__tsan_read4@PLT\n") != std::string::npos);
  CHECK_THAT(text, ContainsSubstring("\tmovq\t$8, %r10\n"));
}

TEST_CASE("loads before a call belong to it, unless it is one of the compiler's hooks of accesses") {
  for (const char* call : {"\tcall\t_Z14value__tsan_of3One\n", "\tcall\tmy__ubsan_handle_it@PLT\n",
                           "\tcall\t__ubsan_handle_pointer_overflow@PLT\n"})
    CHECK_THAT(hooked("_1 = f (*one_2);", "\tmovss\t(%rbx), %xmm0\n" + std::string(call)),
               ContainsSubstring(kRead));
}

TEST_CASE("what lies in the function's own frame, and constants, are no memory of others") {
  const std::string text = hooked(
      "f (*one_2);",
      "\tmovss\t8(%rsp), %xmm0\n\tmovss\t.LC3(%rip), %xmm1\n\tmovq\tx@GOTPCREL(%rip), %rax\n\tcall\tf\n");
  CHECK(text.find("course_operand") == std::string::npos);
}

TEST_CASE("a copy by the processor's own loop is hooked with all its bytes") {
  CHECK_THAT(hooked("f (*one_2);", "\trep movsq\n\tcall\tf\n"),
             ContainsSubstring("\tleaq\t(%rsi), %r11\n\tleaq\t(,%rcx,8), %r10\n" + std::string(kRead)));
}

TEST_CASE("a store behind a call is hooked if the call's result goes to memory") {
  CHECK_THAT(hooked("*_2 = f (_3);", "\tcall\tf\n\tvmovss\t%xmm0, (%rbx)\n"),
             ContainsSubstring("\tmovq\t$4, %r10\n" + std::string(kWrite)));
}

TEST_CASE("a variable or a member that is called as values are is memory") {
  const auto is_hooked = [](const std::string& operand, const std::string& accesses) {
    return hooked("_1 = f (" + operand + ");", "\tmovss\tone(%rip), %xmm0\n\tcall\tf\n", accesses)
               .find(kRead) != std::string::npos;
  };
  CHECK(is_hooked("one_1", "  static struct OneD.5 one_1D.6;\n"));
  CHECK(is_hooked("one.value_1", ""));
  CHECK_FALSE(is_hooked("one_1", "  _1 = oneD.6_1;\n"));
}

TEST_CASE("stores to the structure that a function returns are hooked there") {
  CHECK_THAT(hooked("<retval>.a = v_2(D);", "\tmovups\t%xmm0, 16(%rdi)\n"),
             ContainsSubstring("\tleaq\t16(%rdi), %r11\n\tmovq\t$16, %r10\n" + std::string(kWrite)));
  CHECK(hooked("*<retval>_2(D) = v_3(D);", "\tmovups\t%xmm0, (%rdi)\n").find("course_operand") ==
        std::string::npos);
}

TEST_CASE("an index into the function's own frame is followed where it leads out of it") {
  for (const char* setup :
       {"\tmovss\t8(%rsp,%rax,4), %xmm0\n", "\tmovq\t%rsp, %rbp\n\tmovss\t-40(%rbp,%rax,4), %xmm0\n"})
    CHECK_THAT(hooked("_1 = _2 + _3;", setup),
               ContainsSubstring(".Lcourse_frame0:\n") && ContainsSubstring(kRead));
  CHECK(hooked("_1 = _2 + _3;", "\tmovss\t-40(%rbp,%rax,4), %xmm0\n").find("course_operand") ==
        std::string::npos);
}

TEST_CASE("an address of the frame is followed once an index has moved it, on all ways") {
  const auto follows = [](const std::string& instructions) {
    return hooked("_1 = _2 + _3;", instructions).find("course_operand") != std::string::npos;
  };
  const std::string load = "\tvmovss\t4(%rbx), %xmm0\n", place = "\tleaq\t12(%rsp), %rbx\n",
                    moved = "\tleaq\t12(%rsp), %rax\n\tleaq\t(%rax,%r12,4), %rbx\n";
  CHECK(follows(moved + load));
  CHECK(follows(place + "\tvmovss\t(%rbx,%rax), %xmm0\n"));
  CHECK(follows(place + "\taddq\t%rax, %rbx\n" + load));
  CHECK(follows(moved + "\tmovq\t%rbx, 8(%rsp)\n\tmovl\t$0, %ebx\n\tmovq\t8(%rsp), %rcx\n"
                        "\tmovq\t%rax, (%rcx)\n"));
  CHECK(follows(place + "\tjmp\t.L3\n.L2:\n" + load + "\taddq\t%rax, %rbx\n.L3:\n\tjne\t.L2\n"));
  CHECK(follows(moved + "\tjmp\t*%rax\n\t.long\t.L2-.L4\n.L2:\n" + load));
  CHECK(follows(moved + "\tjmp\t.L3\n.LVL1:\n.L3:\n" + load));
  CHECK(follows(moved + "\tcall\tf\n" + load));
  CHECK(follows("\tleaq\t8(%rsp,%rdx), %rsi\n\tmovq\t%rsp, %rdi\n\trep movsq\n"));
  CHECK(follows("\tleaq\t8(%rsp,%rdx), %rdi\n\tmovq\t%rbx, %rsi\n\trep movsq\n"));
  CHECK_FALSE(follows(place + load));
  // What changes a number in memory stores there, too, and so does the x87 unit.
  const auto stores = [](const std::string& instruction) {
    return hooked("_1 = _2 + _3;", instruction).find("\tcall\tcourse_operand_write\n") != std::string::npos;
  };
  CHECK(stores("\taddl\t$1, 4(%rsp,%rax,4)\n"));
  CHECK(stores("\tincl\t4(%rsp,%rax,4)\n"));
  CHECK(stores("\tfstps\t4(%rsp,%rax,4)\n"));
  CHECK_FALSE(stores("\taddl\t4(%rsp,%rax,4), %ecx\n"));
  CHECK_FALSE(stores("\tflds\t4(%rsp,%rax,4)\n"));
  CHECK_FALSE(follows(moved + "\tmovq\t%rdi, %rbx\n" + load));
  CHECK_FALSE(follows(moved + "\tcmpq\t%rbx, %rcx\n\tsubq\t%rbx, %rcx\n\tvmovss\t(%rcx), %xmm0\n"));
  CHECK_FALSE(follows(moved + "\tjmp\t.L3\n.L2:\n" + load + ".L3:\n"));
  // What the compiler may take for another variable's, it hooks itself.
  CHECK_FALSE(follows(moved + "\tjne\t.L3\n\tmovq\t%rdi, %rbx\n.L3:\n" + load));
  CHECK_FALSE(follows(moved + "\tmovl\t$8, %ebx\n\tvmovss\t(%rdi,%rbx), %xmm0\n"));
  CHECK_FALSE(follows(moved + "\tsubq\t%rax, %rbx\n\tvmovss\t(%rdi,%rbx), %xmm0\n"));
  CHECK_FALSE(follows(moved + "\tmovq\t%rbx, %rax\n\tcall\tf\n\tvmovss\t4(%rax), %xmm0\n"));
  CHECK_FALSE(follows(moved + "\tmovq\t%rbx, 8(%rsp)\n\tpushq\t%rdi\n\tmovq\t8(%rsp), %rcx\n"
                              "\tmovq\t%rax, (%rcx)\n"));
}

TEST_CASE("an index is followed where the compiler has set no hook, but not into local variables") {
  const auto follows = [](const std::string& accesses) {
    return hooked("return;", "\tmovss\t8(%rdx,%rax,4), %xmm0\n", accesses).find(kRead) != std::string::npos;
  };
  const std::string body = "\n  <bb 2> [local count: 9]:\n  ";
  CHECK(follows(body + "_6 = ownD.7.atD.8[_2];\n"));
  CHECK(follows(body + "_6 = ownD.7.atD.8[distance_2(D)];\n"));
  CHECK(follows(body + "_6 = MEM[(const struct RowsD.9 &)&ownD.7].atD.8[_2];\n"));
  CHECK(follows(body + "_6 = MEM[(const struct RowsD.9 &)\" = &f (x)\"].atD.8[_2];\n"));
  CHECK(follows(body + "_6 = VIEW_CONVERT_EXPR<intD.9>(ownD.7.atD.8[_2]);\n"));
  CHECK(follows(body + "ownD.7.atD.8[_2] = 1.0e+0;\n"));
  CHECK(follows(body + "_6 ={v} ownD.7.atD.8[_2];\n"));
  CHECK(follows(body + "boxD.7 ={v} _2;\n"));
  CHECK(follows(body + "_6 ={v} boxD.7.bitsD.8;\n"));
  CHECK(follows("floatD.4 course::ofD.5<Text{\"x (x ownD.7)\"}> (intD.12 distanceD.6)\n" + body +
                "_6 = ownD.7.atD.8[_2];\n"));
  CHECK(follows("  struct Box<Text{\"x ownD.7[\"}> boxD.5;\n" + body + "_6 = ownD.7.atD.8[_2];\n"));
  CHECK_FALSE(follows("floatD.4 course::foldD.5 (struct BoxD.6 & aD.8, struct BoxD.6 boxD.7)\n" + body +
                      "boxD.7 = D.122095;\n  boxD.7.xD.9[_2] = _3;\n"));
  CHECK(follows("  static const struct OwnD.6 ownD.7 = {.atD.8={1.0e+0}};\n" + body +
                "_6 = ownD.7.atD.8[_2];\n"));
  CHECK(follows("  volatile floatD.4 ownD.5[2];\n" + body + "_6 = ownD.7.atD.8[_2];\n"));
  CHECK(follows(body + "__builtin___tsan_write4D.2 (x_3);\n  *x_3 = ownD.7.atD.8[_2];\n"));
  CHECK_FALSE(follows(body +
                      "_3 = &ownD.7.atD.8[_2];\n  __builtin___tsan_read4D.1 (_3);\n  # DEBUG BEGIN_STMT\n"
                      "  _4 = &otherD.9[_2];\n  __builtin___tsan_write4D.2 (_4);\n"
                      "  otherD.9[_2] = ownD.7.atD.8[_2];\n"));
  CHECK_FALSE(follows("  struct OwnD.6 ownD.7;\n" + body + "_6 = ownD.7.atD.8[_2];\n"));
  CHECK_FALSE(
      follows(body + "_6 = f (&ownD.7.atD.8[_2]);\n  _5 = ownD.7.firstD.9;\n  goto <bb 3>; [89.00%]\n"));
}

TEST_CASE("thread-local memory is hooked at its own address") {
  const std::string accesses = "  <bb 2>:\n  _6 = ownD.7.atD.8[_2];\n";
  CHECK_THAT(hooked("return;", "\tmovl\t16+own@dtpoff(%rax,%rbx,4), %ebx\n", accesses),
             ContainsSubstring("\tleaq\t16+own@dtpoff(%rax,%rbx,4), %r11\n"));
  CHECK_THAT(hooked("return;", "\tmovl\t%fs:4(%rax,%rbx,4), %ebx\n", accesses),
             ContainsSubstring("\tleaq\t4(%rax,%rbx,4), %r11\n\tmovq\t%fs:0, %r10\n"
                               "\tleaq\t(%r10,%r11), %r11\n\tmovq\t$4, %r10\n"));
  CHECK(hooked("return;", "\tmovq\town@gottpoff(%rip), %rax\n", accesses).find("course_operand") ==
        std::string::npos);
}

TEST_CASE("a call by a pointer is hooked in each function, with the address that it goes to") {
  const auto hooked_call = [](const std::string& code) {
    const std::string text = with_operand_hooks("\t.type\tadd, @function\nadd:\n" + code, {});
    return text.substr(0, text.find("  .text\n"));
  };
  CHECK_THAT(hooked_call("\tcall\t*8(%rax)\n"),
             ContainsSubstring("\tmovq\t8(%rax), %r11\n\tcall\tcourse_operand_call\n"));
  CHECK_THAT(hooked_call("\tnotrack jmp\t*%rdx\n"), ContainsSubstring("\tmovq\t%rdx, %r11\n"));
  CHECK_THAT(hooked_call("\tcall\t *%rcx\n"), ContainsSubstring("\tmovq\t%rcx, %r11\n"));
  CHECK(hooked_call("\tcall\tf\n") == "\t.type\tadd, @function\nadd:\n\tcall\tf\n");
  CHECK_THAT(hooked_call("\tcall\t*f@GOTPCREL(%rip)\n"), !ContainsSubstring("course_operand_call"));
}

TEST_CASE("a stack's end that comes from elsewhere than the function's frame is looked at") {
  const auto is_looked_at = [](const std::string& code) {
    const std::string text = with_operand_hooks("\t.type\tadd, @function\nadd:\n\t" + code + "\n\tret\n", {});
    return text.find(code +
                     "\n\tmovq\t%r11, -120(%rsp)\n\tmovq\t%rsp, %r11\n\tcall\tcourse_operand_stack\n") !=
           std::string::npos;
  };
  for (const char* code : {"subq\t%rax, %rsp", "movq\t%rbx, %rsp", "leaq\t-8(%r10), %rsp"})
    CHECK(is_looked_at(code));
  for (const char* code : {"subq\t$24, %rsp", "andq\t$-32, %rsp", "leaq\t-40(%rbp), %rsp", "movq\t%rbp, %rsp",
                           "leaq\t8(%rsp), %rsp", "movq\t%rsp, %rbp"})
    CHECK_FALSE(is_looked_at(code));
}

TEST_CASE("behind a call, a function that finds its variables by a frame pointer makes sure of it") {
  const auto hooked_call = [](const std::string& code) {
    return with_operand_hooks("\t.type\tadd, @function\nadd:\n" + code + "\tret\n", {});
  };
  const std::string frame =
      "\tpushq\t%rbp\n\t.cfi_def_cfa_offset 16\n\tmovq\t%rsp, %rbp\n\t.cfi_def_cfa_register 6\n";
  CHECK_THAT(hooked_call(frame + "\tcall\tf\n"),
             ContainsSubstring("\tcall\tf\n\tmovq\t%rbp, %r11\n") &&
                 ContainsSubstring("\tcall\tcourse_operand_stack\n.Lcourse_kept0:\n\tret\n"));
  // The last one has the address of a variable in %rbp, and later something else.
  const std::string variable = "\tmovq\t%rsp, %rbp\n\tmovl\t$24, %esi\n";
  for (const std::string& code :
       {std::string("\tcall\tf\n"), frame + "\tcall\t__tsan_read4@PLT\n", variable + "\tcall\tf\n"})
    CHECK_THAT(hooked_call(code), !ContainsSubstring("course_operand_stack"));
}

TEST_CASE("many loads before one call are hooked in their order") {
  std::string loads, expected;
  for (int i = 0; i < 3; ++i) {
    const std::string load = "\tmovss\t" + std::to_string(4 * i) + "(%rbx), %xmm0\n";
    loads += "\tnop\n" + load;
  }
  const std::string text = hooked("f (*p);", loads + "\tcall\tf\n");
  std::size_t at = 0;
  for (int i = 0; i < 3; ++i) {
    const std::string address = std::to_string(4 * i) + "(%rbx), ";
    at = text.find("\tnop\n", at);
    REQUIRE(at != std::string::npos);
    const std::size_t hook = text.find("\tleaq\t" + address + "%r11", at);
    CHECK(hook < text.find(kRead, at));
    CHECK(text.find(kRead, at) < text.find("\tmovss\t" + address, at));
    at += 1;
  }
}

TEST_CASE("what takes too long to read, or too much memory, is given up") {
  const std::string lines(100'000, '\n');
  const auto read = [&] {
    int count = 0;
    for_each_line(lines, [&](std::string_view) { return ++count > 0; });
    return count;
  };
  {
    const ReadingLimit none(std::chrono::seconds(0));
    CHECK_THROWS_AS(read(), TooMuchToRead);
  }
  {
    const ReadingLimit enough(std::chrono::seconds(60));
    CHECK(read() == 100'000);
    const std::string line(2 << 20, 'x');
    CHECK_THROWS_AS(for_each_line(line, [](std::string_view) { return true; }), TooMuchToRead);
  }
  CHECK(read() == 100'000);

  std::string jumps = "\t.type\tf, @function\n";  // 2000 places of the frame are known at each of 2000 labels
  for (int i = 0; i < 2000; ++i)
    jumps += "\tleaq\t8(%rsp), %rax\n\tmovq\t%rax, " + std::to_string(8 * i) + "(%rsp)\n";
  for (int i = 0; i < 2000; ++i) jumps += "\tjne\t.L" + std::to_string(i) + "\n";
  CHECK_THROWS_AS(FrameAddresses(jumps), TooMuchToRead);
}
