// Functions of the host that a kernel's code refers to. The texts are as g++ 12 writes them.
#include "grading/build/host_guards.hpp"

#include <string>
#include <vector>

#include "support/catch.hpp"

using namespace course::grading;
using Catch::Matchers::ContainsSubstring;
using Strings = std::vector<std::string>;

namespace {

constexpr const char* kAppend = "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE9_M_appendEPKcm";

}  // namespace

TEST_CASE("functions of the C and C++ library are found wherever code or a table names them") {
  CHECK(host_functions("\tcall\tmempcpy@PLT\n") == Strings{"mempcpy"});
  CHECK(host_functions(std::string("\tcall\t") + kAppend + "@PLT\n") == Strings{kAppend});
  CHECK(host_functions("\tmovq\tqsort@GOTPCREL(%rip), %rax\n\tcall\t*memchr@GOTPCREL(%rip)\n") ==
        Strings{"memchr", "qsort"});
  CHECK(host_functions("table:\n\t.quad\tstrncpy\n") == Strings{"strncpy"});
}

TEST_CASE("what CUDA has in kernels, what check mode sees, and data are no functions of the host") {
  CHECK(host_functions("\tcall\tmemcpy@PLT\n\tcall\texpf@PLT\n\tcall\tprintf@PLT\n\tcall\t__tsan_read4@PLT\n"
                       "\tcall\tsimt_lane@PLT\n\tcall\t_Znwm@PLT\n\tcall\t__cxa_throw@PLT\n"
                       "\tmovq\t_ZSt4cout@GOTPCREL(%rip), %rdi\n\tmovq\tstdout@GOTPCREL(%rip), %rax\n"
                       "\t.quad\t_ZTISt9exception\n")
            .empty());
}

TEST_CASE("functions of the compiler's libraries that touch memory where they are told are the host's") {
  CHECK(host_functions("\tcall\t__cxa_guard_release@PLT\n\tcall\t__divmodti4@PLT\n\tcall\tfputc@PLT\n"
                       "\tcall\tnanf@PLT\n\tcall\t__divti3@PLT\n\tcall\t_Unwind_Resume@PLT\n"
                       "\t.quad\t__gxx_personality_v0\n\tcall\t__tls_get_addr@PLT\n") ==
        Strings{"__cxa_guard_release", "__divmodti4", "fputc", "nanf"});
}

TEST_CASE("of the forms of printf with checks, only the one that check mode sees has no guard") {
  CHECK(host_functions("\tcall\t__printf_chk@PLT\n\tcall\t__sprintf_chk@PLT\n\tcall\t__vsprintf_chk@PLT\n"
                       "\tcall\t__snprintf_chk@PLT\n\tcall\t__fprintf_chk@PLT\n") ==
        Strings{"__fprintf_chk", "__snprintf_chk", "__sprintf_chk", "__vsprintf_chk"});
}

TEST_CASE("functions of the CUDA runtime are the host's") {
  CHECK(host_functions("\tcall\tcudaMallocPitch@PLT\n") == Strings{"cudaMallocPitch"});
}

TEST_CASE("a function that the file has of its own is not the library's") {
  CHECK(host_functions("\tcall\tmempcpy@PLT\nmempcpy:\n\tret\n").empty());
}

TEST_CASE("a guard asks before it goes on to the function") {
  const std::string text = guards_of({"mempcpy"});
  CHECK_THAT(text, ContainsSubstring("__wrap_mempcpy:") && ContainsSubstring("jmp __real_mempcpy@PLT") &&
                       ContainsSubstring(".string \"mempcpy\"") &&
                       ContainsSubstring("call simt_host_function@PLT"));
}
