// What a compiler made of a file, held against what it makes of CUDA C++. The texts are as g++ 12 writes
// them.
#include "grading/build/effects.hpp"

#include <string>
#include <vector>

#include "support/catch.hpp"

using namespace course::grading;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

namespace {

/// A function of one instruction, with lines before and after it.
std::string function_with(const std::string& lines) {
  return "\t.file\t\"kernel.cpp\"\n\t.text\n\t.globl\tadd\n\t.type\tadd, @function\nadd:\n.LFB1:\n"
         "\t.cfi_startproc\n\tmovss\t(%rdi), %xmm0\n" +
         lines + "\tret\n\t.cfi_endproc\n.LFE1:\n\t.size\tadd, .-add\n";
}

/// The dump of a function with these statements.
std::string dumped(const std::string& name, const std::string& statements = "") {
  return "\n;; Function course::" + name + " (" + name +
         ", funcdef_no=7, decl_uid=76, cgraph_uid=6, symbol_order=9)\n\nvoid " + name + " ()\n{\n" +
         statements + "}\n";
}

std::string unseen(const std::string& statements) {
  const std::string add = dumped("add", statements);
  return unseen_accesses({add, add, add}, "submission/add.cu");
}

}  // namespace

TEST_CASE("what compilers write of an ordinary function is no foreign assembly") {
  CHECK(foreign_assembly(function_with("")).empty());
  CHECK(foreign_assembly(function_with("\t.value\t0x6666\n\trex64\n\tcall\t__tls_get_addr@PLT\n")).empty());
  CHECK(
      foreign_assembly("\t.section\t.rodata.str1.1,\"aMS\",@progbits,1\n.LC0:\n\t.string\t\"syscall #APP\"\n")
          .empty());
  CHECK(foreign_assembly(
            "\t.section\t.tbss,\"awT\",@nobits\nx:\n\t.zero\t4\n\t.text\n\tvmovups\t(%rdi), %ymm0\n")
            .empty());
}

TEST_CASE("an asm statement is found by the marks around it") {
  CHECK_THAT(foreign_assembly(function_with("#APP\n# 3 \"a.cu\" 1\n\tnop\n# 0 \"\" 2\n#NO_APP\n")),
             ContainsSubstring("has an asm statement"));
}

TEST_CASE("an asm statement without a word in it, which orders memory, is none") {
  CHECK(foreign_assembly(function_with("#APP\n# 3 \"a.cu\" 1\n#NO_APP\n")).empty());
}

TEST_CASE("a directive that a name brought along is found") {
  CHECK_THAT(foreign_assembly(function_with("\t.incbin \"/etc/passwd\"\n")), ContainsSubstring(".incbin"));
  CHECK_THAT(foreign_assembly(".macro movss\n"), ContainsSubstring(".macro"));
}

TEST_CASE("a name that ends its statement early, or hides another, is found") {
  const std::string by_gnu = "\t.ident\t\"GCC: (Debian 12.2.0-14) 12.2.0\"\n";
  const auto told = [&](const std::string& lines) { return foreign_assembly(function_with(lines) + by_gnu); };
  CHECK_THAT(told("\tcall\tf;ret\n"), ContainsSubstring("several statements on a line"));
  for (const char* line : {"\"__tsan_read4\":\n", "\t.set\t\"__tsan_read4\",add\n", "\tcall\t\"fork\"@PLT\n"})
    CHECK_THAT(told(line), ContainsSubstring("a name in quotation marks"));
  for (const char* line : {"\tcall\tmemcpy@GLIBC_2.14\n", "\tcall\tf@GLIBC_PRIVATE\n", "f@@V1:\n"})
    CHECK_THAT(told(line), ContainsSubstring("a name with a version"));
  CHECK_THAT(told("\tmovss\t(%rdi), %xmm0#(%rip), %xmm0\n"), ContainsSubstring("begins a comment"));
  CHECK_THAT(told("f = g\n"), ContainsSubstring("the character ="));
  CHECK_THAT(told("\tcall\tf/*@PLT\n"), ContainsSubstring("the character /"));
  CHECK(foreign_assembly("# 3 \"a;b.cu\" 1\n\t.data\nx:\n\t.string\t\"a;b\\\"=#'c@d1\"\n" + by_gnu).empty());
  CHECK(told("\tleaq\tx@tlsgd(%rip), %rdi\n\tcall\t*f@GOTPCREL(%rip)\n").empty());
  CHECK(foreign_assembly("\t.type\tx, @gnu_unique_object\nx:  # @x = 1; y\n").empty());  // clang's comment
  CHECK(foreign_assembly("\"_Z4gr\303\266\303\237v\":\n").empty());
}

TEST_CASE("lines that a name brought along are found in the table of symbols") {
  const auto told = [](const std::string& entries) {
    return foreign_names(table_of_symbols("\nReclaiming functions:\nSymbol table:\n\n" + entries +
                                          "void f ()\n{\n  <bb 2> :\n  return;\n}\n"));
  };
  const std::string type = "  Type: function\n  Visibility: public\n", address = " @0x7f64f2d6d110\n";
  CHECK(told("_Z1fv/1 (void f())" + address + type + "*f/2 (void g())" + address + type).empty());
  CHECK(told("course::f(int)/3 (int course::f(int))" + address + type).empty());
  CHECK(told("_Z1fv/1 (void f())\n" + type + "*f/2 (void g())\n" + type).empty());  // of g++ 13
  for (const std::string& entry : std::vector<std::string>{
           "*f\n\tmovss\t(%rdi), %xmm0\n\tcall f/2 (void g())\n", "* *%rcx/2 (void g())\n",
           "*f\n\tmovss\t(%rdi), %xmm0\n\tcall f/2 (void g())" + address, "* *%rcx/2 (void g())" + address,
           "x/0 (int x)" + address + "  Type: variable\n  Visibility: public section:.text\nf:\n\tret\n",
           "x/0 (int x)" + address + "  Type: variable\n  Visibility: public section:.text\n  ret\n",
           "*x/1 (x)\n{\n/2 (void g())" + address, "*5/1 (%rip)\n  ret\n  incl 5/2 (int x)" + address,
           "*5/1 (%rip)\n  Type: ret\n  incl 5/2 (int x)" + address,
           "*5/1 (%rip)\n  Type: function :ret\n  incl 5/2 (int x)" + address,
           "f/2 (int f(int))" + address + "  Type: function weakref target:g\n{\nh\n  Visibility:\n",
           "# (x)" + address})
    CHECK_THAT(told(entry + type), ContainsSubstring("a name or a section of its own"));
  // What looks like the first body may be a name; the last symbol is not behind it.
  for (const std::string& early : std::vector<std::string>{
           "*x/1 (x)\n{\n/2 (void g())" + address + type,
           "f/2 (int f(int))" + address + "  Type: function weakref target:g\n{\nh\n  Visibility:\n"})
    CHECK_THAT(
        std::string(table_of_symbols("\nSymbol table:\n" + early + "last/1 (int last)" + address + type)),
        ContainsSubstring("last/1"));
  CHECK_THAT(told("*__tsan_func_exit/4 (Pair mine(Pair))" + address + type),
             ContainsSubstring("calls __tsan_func_exit, a function of the simulator's own"));
  CHECK(told("__ubsan_handle_out_of_bounds/4 (void __builtin___ubsan_handle_out_of_bounds(void*, void*))" +
             address + type + "*.Lubsan_data18/5 (__ubsan_data *.Lubsan_data18)" + address + type)
            .empty());
  const auto in_section = [&](const std::string& symbol, const std::string& section) {
    return told(symbol + address + "  Type: function\n  Visibility: public weak section:" + section + "\n");
  };
  CHECK(in_section("_ZThn8_N1D1gEv/2 (virtual int D::_ZThn8_N1D1gEv())",
                   ".text._ZN1D1gEv (implicit_section) virtual artificial")
            .empty());
  for (const char* section :
       {".text._ZN1D1gEv", ".text._ZN1D1gEv virtual", ".text._ZN1D1gEv  (implicit_section)",
        ".text._ZN1D;1gEv (implicit_section)", ".text.mine (implicit_section)", "mine (implicit_section)",
        ".text (implicit_section)"})
    CHECK_THAT(in_section("_Z1fv/1 (void f())", section), ContainsSubstring("a section of its own"));
  for (const char* own : {"int _ZThn8_N1D1gEv()", "int _ZThn8_N1D1gEv(X<Text<11>{\" (virtual \"}>)"})
    CHECK_THAT(
        in_section(std::string("_ZThn8_N1D1gEv/2 (") + own + ")", ".text._ZN1D1gEv (implicit_section)"),
        ContainsSubstring("a function called _ZThn8_N1D1gEv, as the compiler's own are"));
  for (const char* label :
       {"*_ZThn8_N1D1gEv/4 (void now())", "*_ZThn8_N1D1gEv/2 (virtual void D::h())",
        "*sum_of.cold/0 (float sum_of())", "*simt_shuffle/3 (Two hear(Two, Two))",
        "*dynamic_shared.cold/0 (float sum_of())", "*.dropped/0 (unsigned int dropped [1024])",
        "*.mine/0 (float sum(X<Text<9>{\"::*.mine(\"}>))"})
    CHECK_THAT(told(label + address + type), ContainsSubstring("gives the assembler a name"));
  CHECK_THAT(told("*.mine/0 (float sum(X<Text<14>{\"::*.mine( @0x\"}>))\n" + type),
             ContainsSubstring("gives the assembler a name"));
  CHECK(
      !told("*.dropped/0 (unsigned int dropped [1024])" + address + "  Type: variable definition analyzed\n")
           .empty());
  CHECK(told("*__isoc99_sscanf/4 (int sscanf(const char*, const char*, ...))" + address + type).empty());
  for (const char* thunk : {"long int W::*.LTHUNK0()", "unsigned int W::*.LTHUNK0(int, float) const"})
    CHECK(told(std::string("*.LTHUNK0/9 (") + thunk + ")" + address + type).empty());
  CHECK_THAT(foreign_assembly(function_with("\t.section\t.text._Z1fv (implicit_section),\"ax\"\n")),
             ContainsSubstring("a section that the linker takes orders from"));
  CHECK(table_of_symbols("").empty());
  CHECK(table_of_symbols("Reclaiming functions:\n").empty());
}

TEST_CASE("a name that is the course's own is found where it is defined, and not where it is called") {
  const auto kReserved = ContainsSubstring("begins with simt_ or course_");
  CHECK_THAT(foreign_assembly(function_with("\tret\ncourse_hide_names:\n")), kReserved);
  CHECK_THAT(foreign_assembly("\t.set\tsimt_atomic,add\n"), kReserved);
  CHECK(foreign_assembly(function_with("\tcall\tsimt_atomic@PLT\n")).empty());
  const auto kHooks = ContainsSubstring("as those of the compiler's hooks");
  for (const char* name :
       {"__tsan_read4", "__tsan_read4th", "__sanitizer_cov_trace_pc", "__ubsan_handle_mine"})
    CHECK_THAT(foreign_assembly(function_with("\tret\n" + std::string(name) + ":\n")), kHooks);
  CHECK_THAT(foreign_assembly("\t.set\t__tsan_write2,add\n"), kHooks);
  CHECK(foreign_assembly(function_with("\tcall\t__tsan_read4@PLT\n.Lubsan_data3:\n")).empty());
}

TEST_CASE("a function of the C library's is found where the file defines one itself") {
  for (const char* name : {"memcpy", "memcmp", "strlen", "malloc", "_Znwm", "__memcpy_chk", "sincosf",
                           "printf", "__cxa_throw", "nanf"}) {
    const std::string found =
        "a function or variable by the name " + std::string(name) + ", which the C library";
    CHECK_THAT(foreign_assembly(function_with("\tret\n" + std::string(name) + ":\n")),
               ContainsSubstring(found));
    CHECK_THAT(foreign_assembly("\t.set\t" + std::string(name) + ",add\n"), ContainsSubstring(found));
    CHECK(foreign_assembly(function_with("\tcall\t" + std::string(name) + "@PLT\n")).empty());
  }
  CHECK(foreign_assembly(function_with("\tret\n_ZN6course6memcpyEv:\n")).empty());
}

TEST_CASE("a name by which the linker leads past its wrappers is found, in assembly and in an object") {
  const std::string found =
      "Your file names __real_memcpy, and names that begin with __real_ are the linker's";
  CHECK_THAT(names_past_wrappers("\tmovq\t__real_memcpy@GOTPCREL(%rip), %rax\n"), StartsWith(found));
  CHECK_THAT(names_past_wrappers(std::string("\x7f\x45LF\0__real_p\0__real_cudaFree\0", 29)),
             StartsWith("Your file names __real_cudaFree"));
  CHECK(names_past_wrappers(std::string("\x7f\x45LF\0__real_p\0cudaFree\0", 22)).empty());
  CHECK_THAT(names_past_wrappers("\tcall\t__wrap_free@PLT\n"), StartsWith("Your file names __wrap_free"));
  CHECK(names_past_wrappers("\tcall\t_Z13__real_memcpyv@PLT\n\tcall\tmemcpy@PLT\n").empty());
  CHECK(names_past_wrappers("\t.string\t\"__wrap_iter\"\n").empty());
}

TEST_CASE("a function that the loader calls to choose another is found") {
  CHECK_THAT(foreign_assembly("\t.type\tadd, @gnu_indirect_function\n"),
             ContainsSubstring("when it is loaded"));
}

TEST_CASE("a section of notes is found, by its name or its type") {
  const std::string section =
      GENERATE(as<std::string>{}, ".note.simt,\"a\",@progbits", ".mine,\"a\",@note",
               ".mine,\"a\", %note #,\"a\",@progbits", ".mine,\"a\",\"note\"", ".mine,\"a\",@7",
               ".mine,\"a\",\"7\"", ".note.gnu.property,\"a\",@progbits", "\".note.x\"");
  CHECK_THAT(foreign_assembly("\t.section\t" + section + "\n\t.long\t5\n"),
             ContainsSubstring("a section of notes"));
  for (const char* own :
       {".note.GNU-stack,\"\",@progbits", ".note.gnu.property,\"a\"", ".rodata.str1.1,\"aMS\",@progbits,1",
        ".text._Z9take_notev,\"axG\",@progbits,_Z9take_notev,comdat", ".init_array,\"aw\"", ".text.note2"})
    CHECK(foreign_assembly("\t.section\t" + std::string(own) + "\n").empty());
}

TEST_CASE("a section is found that linkers or loaders read") {
  for (const char* name :
       {".gnu.lto_main", ".gnu.warning.f", ".dynamic", ".interp", ".preinit_array", ".textual"})
    CHECK_THAT(foreign_assembly("\t.section\t" + std::string(name) + ",\"aw\"\n"),
               ContainsSubstring("the linker takes orders from"));
  for (const char* section :
       {".text.unlikely,\"ax\",@progbits", ".data.rel.ro.local,\"aw\"", ".debug_info,\"\",@progbits",
        ".init_array.00101,\"aw\"", ".gcc_except_table,\"a\",@progbits", ".text", "mine,\"aw\""})
    CHECK(foreign_assembly("\t.section\t" + std::string(section) + "\n").empty());
}

TEST_CASE("bytes among the instructions are found, in whatever section is executable") {
  CHECK_THAT(foreign_assembly(function_with("\t.byte\t0x0f\n")),
             ContainsSubstring("data among its instructions"));
  CHECK_THAT(foreign_assembly("\t.section\tmine,\"awx\",@progbits\ncode:\n\t.long\t5\n"),
             ContainsSubstring("data among its instructions"));
  CHECK(foreign_assembly("\t.section\tmine,\"aw\",@progbits\ndata:\n\t.long\t5\n").empty());
}

TEST_CASE("instructions that no kernel needs are found") {
  for (const char* instruction : {"syscall", "movntps\t%xmm0, (%rdi)", "rdtsc", "int\t$128"})
    CHECK_THAT(foreign_assembly(function_with(std::string("\t") + instruction + "\n")),
               ContainsSubstring("which no CUDA C++ becomes"));
}

TEST_CASE("a function without hooks of check mode is found, unless it touches nothing") {
  const std::string store =
      "  <bb 2> [local count: 1073741824]:\n  [a.cu:3:7] *y_2(D) = 1.0e+0;\n  return;\n\n";
  const std::string both = dumped("add", store) + dumped("scale", store), one = dumped("add", store);
  const std::string names =
      dumped("names",
             "  int _1;\n\n  <bb 2> [local count: 99]:\n"
             "  [common/n.h:3:2] _1 = simt_wants_names ();\n  [common/n.h:3:3] if (_1 != 0)\n"
             "    goto <bb 3>; [33.00%]\n  else\n    goto <bb 4>; [67.00%]\n\n  <bb 3>:\n"
             "  [common/n.h:4:7] _9 = [common/n.h:4:7] parameters#0.address;\n"
             "  [common/n.h:4:8] simt_name_pointer (_9, [common/n.h:4:9] &x.text, 4, 0, 0B);\n\n");
  CHECK(unseen_accesses({both + names, both, both}, "a.cu").empty());
  CHECK(unseen_accesses({both, both, both}, "a.cu").empty());
  CHECK_THAT(unseen_accesses({both, one, both}, "a.cu"), ContainsSubstring("out of check mode's sight"));
  CHECK_THAT(unseen_accesses({both, both, one}, "a.cu"), ContainsSubstring("out of check mode's sight"));
}

TEST_CASE("a hook that the file calls by hand is found before the compiler has put any at accesses") {
  const std::string none =
      dumped("add",
             "  <bb 2>:\n  __builtin___sanitizer_cov_trace_pc ();\n"
             "  __builtin___ubsan_handle_shift_out_of_bounds (&*.Lubsan_data8, _6, _5);\n  return;\n\n");
  const std::string hooked = dumped("add", "  <bb 2>:\n  __builtin___tsan_write4 (y_2(D));\n  return;\n\n");
  const std::string start = dumped("start", "  <bb 2>:\n  __builtin___tsan_init ();\n  return;\n\n");
  CHECK(unseen_accesses({hooked, hooked, none + start}, "a.cu").empty());
  CHECK_THAT(unseen_accesses({hooked, hooked, hooked}, "a.cu"),
             ContainsSubstring("calls __builtin___tsan_write4, a function of the simulator's own"));
  for (const std::string name :
       {"__tsan_read4", "__sanitizer_cov_trace_pc", "__ubsan_handle_pointer_overflow"}) {
    const std::string by_hand = dumped("add", "  <bb 2>:\n  _1 = " + name + " (*x_2(D));\n\n");
    CHECK_THAT(unseen_accesses({hooked, hooked, by_hand}, "a.cu"),
               ContainsSubstring("calls " + name + ", a function of the simulator's own"));
  }
}

TEST_CASE("a function that asks for no checks is out of check mode's sight") {
  const std::string begins = ";; Function add (add, funcdef_no=1, decl_uid=2)\n\n";
  const std::string body = "void add ()\n{\n  <bb 2> :\n  *a_1(D) = 0;\n\n}\n";
  const auto told = [&](const std::string& attributes) {
    const std::string dump = begins + attributes + body;
    return unseen_accesses({dump, dump, dump}, "a.cu");
  };
  CHECK(told("__attribute__((noinline))\n").empty());
  CHECK_THAT(told("__attribute__((noinline, no_sanitize (bounds | alignment)))\n"),
             ContainsSubstring("out of check mode's sight"));
}

TEST_CASE("a function that asks for other options of the compiler is found, but for the headers' own") {
  const auto told = [](const std::string& attributes) {
    return unseen_accesses({";; Function add (add, funcdef_no=1, decl_uid=2)\n\n__attribute__((" +
                                attributes + "))\nvoid add ()\n{\n}\n",
                            "", ""},
                           "a.cu");
  };
  const std::string own = R"(optimize ("trivial-auto-var-init=pattern", "lifetime-dse=0"))";
  CHECK(told("noinline").empty());
  CHECK(told(own).empty());
  CHECK(told("deprecated (\"optimize (2)\")").empty());
  for (const std::string& attributes :
       {std::string("optimize (\"O2\")"), std::string("noinline, optimize (\"O3\")"),
        own + ", optimize (\"O2\")", std::string("target (\"avx512f\")"),
        std::string("target_clones (\"avx2\", \"default\")")})
    CHECK_THAT(told(attributes), ContainsSubstring("compiled with other options than the rest"));
}

TEST_CASE("asm of the file's own is found where it has no text, and what only orders memory is none") {
  const std::string place = "  <bb 2> :\n  [submission/add.cu:13:33] ";
  CHECK_THAT(unseen(place + "__asm__ __volatile__(\"\" : \"=x\" *to_1(D) : \"0\" value_2(D));\n"),
             ContainsSubstring("has an asm statement"));
  CHECK_THAT(unseen(place + "__asm__ __volatile__(\"\n#NO_APP\n\tmovss\" : \"=x\" v_1 : \"r\" p_2);\n"),
             ContainsSubstring("has an asm statement"));
  CHECK(unseen(place + "__asm__ __volatile__(\"\" :  :  : \"memory\");\n").empty());
  CHECK(unseen("  <bb 2> :\n  [common/simt/shim/simt_math.h:122:3] __asm__(\"\" : \"+x\" x_1);\n").empty());
  CHECK(unseen(place + "puts (&\"__asm__ (a)\"[0]);\n").empty());
}

TEST_CASE("functions of the host's processor are found, wherever they are called") {
  CHECK_THAT(
      unseen("  [/usr/include/avx2intrin.h:7:1] _7 = __builtin_ia32_gathersiv8sf (_1, b_2(D), _6, _4, 4);\n"),
      ContainsSubstring("uses __builtin_ia32_gathersiv8sf"));
  CHECK(unseen("  _1 = __builtin_ia32_vcvtps2ph (_2, 0);\n").empty());
}

TEST_CASE(
    "copies by a builtin are found in the file itself, and are a header's own affair if they are calls") {
  const std::string copy = "__builtin_memcpy (a_2(D), b_3(D), 64);\n";
  CHECK_THAT(unseen("  [submission/add.cu:13:33] " + copy), ContainsSubstring("uses __builtin_memcpy"));
  CHECK(
      unseen("  [/usr/include/c++/12/bits/char_traits.h:431:49] __builtin_memcpy (a_2(D), b_3(D), n_4(D));\n")
          .empty());
  CHECK(unseen("  [submission/add.cu:13:33] memcpy (a_2(D), b_3(D), 64);\n").empty());
  CHECK(unseen("  [submission/add.cu:13:33] puts (&\"__builtin_memcpy (a, b)\"[0]);\n").empty());
}

TEST_CASE("a copy by a header whose size the compiler knows makes loads that nobody sees") {
  const std::string place = "  [/usr/include/c++/12/valarray:7:3] ";
  CHECK_THAT(unseen("  <bb 2> :\n" + place + "__builtin_memcpy (&piece, _4, 128);\n"),
             ContainsSubstring("__builtin_memcpy"));
  CHECK(unseen("  <bb 2> :\n" + place + "__builtin_memcpy (_3, _4, _5);\n").empty());
  CHECK_THAT(unseen("  <bb 2> :\n" + place + "__builtin_memset (_4, _5, 16);\n"),
             ContainsSubstring("__builtin_memset"));
}

TEST_CASE("builtins of the compiler are refused unless it is known that they touch no memory unseen") {
  for (const char* call :
       {"__builtin_init_dwarf_reg_size_table (to_2(D));", "__builtin_va_copy (to_2(D), from_3(D));",
        "_1 = __builtin_return_address (1);", "_1 = __builtin_frame_address (0);",
        "_1 = __builtin_alloca (_2);", "__builtin_va_start (to_2(D), 0);", "__builtin_setjmp (to_2(D));",
        "_1 = __builtin_stack_save ();", "_1 = __builtin_ia32_addcarryx_u64 (0, _2, _3, to_4(D));"}) {
    const std::string statement = call;
    const std::size_t begin = statement.find("__builtin_");
    CHECK_THAT(unseen("  <bb 2> :\n  [submission/add.cu:13:33] " + statement + "\n"),
               ContainsSubstring("uses " + statement.substr(begin, statement.find(" (") - begin) + ","));
  }
  for (const char* call :
       {"_1 = __builtin_clzll (_2);", "_1 = __builtin_ffs (_2);", "_1 = __builtin_bswap32 (_2);",
        "_1 = __builtin_powif (_2, 3);", "_1 = __builtin_expf (_2);", "_1 = __builtin_signbitl (_2);",
        "__builtin_unreachable ();", "_1 = __builtin_return_address (0);", "__builtin_puts (_2);",
        "_1 = __builtin_eh_pointer (1);", "__builtin_va_end (&list);"})
    CHECK(unseen("  <bb 2> :\n  [submission/add.cu:13:33] " + std::string(call) + "\n") == "");
}

TEST_CASE("what the standard library prints numbers with is its own affair") {
  const std::string header = "  <bb 2> :\n  [/usr/include/c++/12/ext/string_conversions.h:109:25] ";
  for (const char* call : {"s_7 = __builtin_alloca (n_5(D));", "__builtin_va_start (&__args, 0);"}) {
    CHECK(unseen(header + call + "\n") == "");
    CHECK_FALSE(unseen("  <bb 2> :\n  [common/simt/shim/mma.h:3:9] " + std::string(call) + "\n").empty());
    CHECK_FALSE(unseen("  <bb 2> :\n  " + std::string(call) + "\n").empty());
  }
}

TEST_CASE("an atomic builtin for which the compiler puts no hook is found") {
  for (const char* name : {"__atomic_store_4", "__sync_fetch_and_add_8", ".ATOMIC_BIT_TEST_AND_SET"})
    CHECK_THAT(unseen("  <bb 2> :\n  [submission/add.cu:13:33] _1 = " + std::string(name) +
                      " (to_2(D), v_3(D), 9);\n"),
               ContainsSubstring("uses " + std::string(name) + ","));
  const std::string none = dumped("add");
  const std::string hooked =
      dumped("add", "  <bb 2> :\n  __builtin___tsan_atomic32_store (a_2(D), _3, 5);\n");
  CHECK(unseen_accesses({hooked, none, none}, "submission/add.cu").empty());
  CHECK(unseen("  <bb 2> :\n  __gnu_cxx::__atomic_add (_1, 2);\n").empty());
}

TEST_CASE("a variable that has a register, or another name for the assembler, is found") {
  const std::string kFound = "a register, or another name for the assembler";
  CHECK_THAT(foreign_names(table_of_symbols("\nSymbol table:\n\n*xmm12/23 (Four keep12) @0x7fd9a124e100\n"
                                            "  Type: variable\n  Visibility: public\n")),
             ContainsSubstring("gives xmm12 " + kFound));
  CHECK(foreign_names(table_of_symbols("\nSymbol table:\n\n*.Lubsan_data7/23 (<anonymous>) @0x7fd9a124e100\n"
                                       "  Type: variable\n  Visibility: public\n"))
            .empty());
  CHECK_THAT(unseen("  register volatile Four k __asm__ (*xmm13);\n  <bb 2> :\n"), ContainsSubstring(kFound));
  CHECK(unseen("  volatile Four k;\n  <bb 2> :\n  puts (&\" __asm__ (\"[0]);\n").empty());
}

TEST_CASE("code that calls the C++ library's function for exceptions is found, and no table of it") {
  for (const char* code : {"\tcall\t__gxx_personality_v0@PLT\n", "\tjmp\t__gxx_personality_v0\n",
                           "\tmovq\t__gxx_personality_v0@GOTPCREL(%rip), %rax\n"})
    CHECK_THAT(foreign_assembly(function_with(code)), ContainsSubstring("a call of __gxx_personality_v0"));
  CHECK(foreign_assembly("\t.cfi_personality 0x9b,DW.ref.__gxx_personality_v0\n"
                         "DW.ref.__gxx_personality_v0:\n\t.quad\t__gxx_personality_v0\n")
            .empty());
}

TEST_CASE("attributes of functions are refused unless it is known that their code is watched") {
  const auto told = [](const std::string& attributes) {
    return unseen_accesses({";; Function add (add, funcdef_no=1, decl_uid=2)\n\n__attribute__((" +
                                attributes + "))\nvoid add ()\n{\n}\n",
                            "", ""},
                           "a.cu");
  };
  CHECK_THAT(told("noinline, indirect_branch (\"thunk-inline\")"),
             ContainsSubstring("a function with the attribute indirect_branch."));
  for (const char* name : {"function_return (\"thunk\")", "naked", "interrupt", "returns_twice"})
    CHECK_THAT(told(name), ContainsSubstring("with the attribute"));
  CHECK(told("noinline, abi_tag (\"cxx11\"), nodiscard, deprecated (\"naked, old\")").empty());
}

TEST_CASE("a call of the simulator's own functions is found outside of its headers") {
  const std::string files =
      "\t.file 1 \"submission/add.cu\"\n\t.file 2 \"/course/common/simt/shim/simt_warp.h\"\n"
      "\t.file 3 \"common/simt/shim/mma.h\"\n\t.file 4 \"/usr/include/c++/12/bits/invoke.h\"\n"
      "\t.file 5 \"notcommon/simt/shim/mma.h\"\n\t.file 6 \"common/simt/shim/curand_kernel.h\"\n"
      "\t.file 7 \"common/simt/shim/../../../submission/add.cu\"\n"
      "\t.file 8 \"common/simt/shim/cuda/../mma.h\"\n";
  const std::string header =
      "//\n//\n//\n//\n//\n  if (ends)\n    simt_phase_ends();\n//\n  completion_();\n//\n"
      "SIMT_PHASE(2)\nSIMT_INLINE void end() { completion_(); }\n";
  const auto told = [&](const std::string& place, const std::string& code) {
    return calls_of_the_simulator(files + function_with("\t.loc " + place + "\n\tnop\n" + code),
                                  {{"mma.h", header}, {"simt_warp.h", header}});
  };
  const std::string call = "\tcall\tsimt_phase_ends@PLT\n";
  CHECK(told("2 7 3", call).empty());
  CHECK(told("3 7 3 is_stmt 0", call).empty());
  CHECK(told("8 7 3", call).empty());
  CHECK(told("2 6 3", call).empty());  // a call in two lines
  CHECK(told("2 11 1", call).empty());
  // A header calls what the file hands to it.
  for (const char* place : {"2 9 3", "2 12 1", "2 100 1", "2 0 0"})
    CHECK_THAT(told(place, call), ContainsSubstring("calls simt_phase_ends"));
  for (const char* place : {"1 7 3", "4 7 3", "5 7 3", "6 7 3", "7 7 3"})
    CHECK_THAT(told(place, call),
               ContainsSubstring("calls simt_phase_ends, a function of the simulator's own"));
  CHECK_THAT(told("2 7 3\n\t.loc 1 8 1", call), ContainsSubstring("simt_phase_ends"));
  CHECK_THAT(told("2 7 3\n\t.type\tf, @function", call), ContainsSubstring("simt_phase_ends"));
  // A thunk has no lines of what it takes in of its function, which is examined itself.
  for (const auto& [thunk, function] : {std::pair{"_ZThn8_N1D1gEv", "_ZN1D1gEv"},
                                        {"_ZTv0_n24_N1W1fEv", "_ZN1W1fEv"},
                                        {"_ZTch0_h8_N2C25cloneEv", "_ZN2C25cloneEv"},
                                        {"_ZTcv0_n24_h8_N1C1cEv", "_ZN1C1cEv"},
                                        {"_ZThn8_N1D1gEv.cold", "_ZN1D1gEv"}}) {
    const std::string begin = "2 7 3\n\t.type\t" + std::string(thunk) + ", @function";
    CHECK(told(begin, call + "\t.set\t" + function + ",f\n").empty());
    CHECK(told(begin, call + function + ":\n").empty());
    CHECK_THAT(told(begin, call), ContainsSubstring("simt_phase_ends"));
    CHECK_THAT(told(begin, "\tmovq\tsimt_lane@GOTPCREL(%rip), %rax\n" + std::string(function) + ":\n"),
               ContainsSubstring("calls simt_lane"));
  }
  // By its address, a header's line would say nothing of who calls it.
  CHECK_THAT(told("2 7 3", "\tmovq\tsimt_lane@GOTPCREL(%rip), %rax\n"), ContainsSubstring("calls simt_lane"));
  CHECK_THAT(told("2 7 3", "\t.section\t.data.rel,\"aw\"\ntable:\n\t.quad\tsimt_lane\n"),
             ContainsSubstring("calls simt_lane"));
  CHECK(told("1 7 3", "\tcall\t_Z7my_simt_lanev@PLT\n\t.string\t\"simt_lane\"\n").empty());
}

TEST_CASE("a virtual function of the standard library that takes memory is one that nobody guards") {
  const std::string block = "  <bb 2> :\n  [/usr/include/c++/12/streambuf:456:28] ";
  CHECK_THAT(
      unseen(block +
             "OBJ_TYPE_REF(_5;(struct basic_streambuf)[v.cu:4:35] &box.D.7->12B) (&box.D.7, x_2(D), 128);\n"),
      ContainsSubstring("stream buffer"));
  CHECK_THAT(unseen(block + "OBJ_TYPE_REF(_7;(const struct ctype)_2->7B) (_2, x_3(D), _4, _5);\n"),
             ContainsSubstring("facet"));
  CHECK(unseen(block + "_73 = OBJ_TYPE_REF(_71;(const struct ctype)_62->6B) (_62, 10);\n").empty());
  CHECK(unseen(block + "OBJ_TYPE_REF(_7;(struct Shape)_2->0B) (_2, x_3(D), 128);\n").empty());
}
