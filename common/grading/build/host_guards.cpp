#include "grading/build/host_guards.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "grading/confinement/imports.hpp"

namespace course::grading {
namespace {

bool is_part_of_symbol(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '$';
}

/// Where a line may name a function of another library: a call, a jump, an address from the table of
/// addresses, or a table of the program's own.
bool may_name_function(std::string_view line) {
  return line.find("@PLT") != std::string_view::npos || line.find("@GOTPCREL") != std::string_view::npos ||
         line.find("\tcall") != std::string_view::npos || line.find("\tjmp") != std::string_view::npos ||
         line.find("\t.quad") != std::string_view::npos;
}

/// Saves what may hold arguments, asks simt_host_function() with the name that %r11 points to, and returns.
constexpr std::string_view kAsk = R"(  .text
  .type course_ask, @function
course_ask:
  .cfi_startproc
  pushq %rbp
  .cfi_def_cfa_offset 16
  .cfi_offset %rbp, -16
  movq %rsp, %rbp
  .cfi_def_cfa_register %rbp
  subq $208, %rsp
  andq $-16, %rsp
  movq %rdi, 0(%rsp)
  movq %rsi, 8(%rsp)
  movq %rdx, 16(%rsp)
  movq %rcx, 24(%rsp)
  movq %r8, 32(%rsp)
  movq %r9, 40(%rsp)
  movq %rax, 48(%rsp)
  movq %r10, 56(%rsp)
  movups %xmm0, 64(%rsp)
  movups %xmm1, 80(%rsp)
  movups %xmm2, 96(%rsp)
  movups %xmm3, 112(%rsp)
  movups %xmm4, 128(%rsp)
  movups %xmm5, 144(%rsp)
  movups %xmm6, 160(%rsp)
  movups %xmm7, 176(%rsp)
  movq %r11, %rdi
  call simt_host_function@PLT
  movq 0(%rsp), %rdi
  movq 8(%rsp), %rsi
  movq 16(%rsp), %rdx
  movq 24(%rsp), %rcx
  movq 32(%rsp), %r8
  movq 40(%rsp), %r9
  movq 48(%rsp), %rax
  movq 56(%rsp), %r10
  movups 64(%rsp), %xmm0
  movups 80(%rsp), %xmm1
  movups 96(%rsp), %xmm2
  movups 112(%rsp), %xmm3
  movups 128(%rsp), %xmm4
  movups 144(%rsp), %xmm5
  movups 160(%rsp), %xmm6
  movups 176(%rsp), %xmm7
  leave
  .cfi_def_cfa %rsp, 8
  ret
  .cfi_endproc
)";

constexpr std::string_view kGuard = R"(  .globl __wrap_{0}
  .hidden __wrap_{0}
  .type __wrap_{0}, @function
__wrap_{0}:
  .cfi_startproc
  leaq .Lname{1}(%rip), %r11
  call course_ask
  jmp __real_{0}@PLT
  .cfi_endproc
  .section .rodata.str1.1,"aMS",@progbits,1
.Lname{1}:
  .string "{0}"
  .text
)";

}  // namespace

std::vector<std::string> host_functions(std::string_view assembly) {
  std::set<std::string_view> named, defined;
  while (!assembly.empty()) {
    const std::size_t end = std::min(assembly.find('\n'), assembly.size());
    const std::string_view line = assembly.substr(0, end);
    assembly.remove_prefix(std::min(end + 1, assembly.size()));
    if (!line.empty() && is_part_of_symbol(line.front())) {
      if (const std::size_t colon = line.find(':'); colon != std::string_view::npos)
        defined.insert(line.substr(0, colon));
    } else if (may_name_function(line)) {
      for (std::size_t i = 0; i < line.size();) {
        std::size_t behind = i;
        while (behind < line.size() && is_part_of_symbol(line[behind])) ++behind;
        if (behind > i) named.insert(line.substr(i, behind - i));
        i = behind + 1;
      }
    }
  }
  std::vector<std::string> functions;
  for (const std::string_view name : named)
    if (!defined.contains(name) && is_host_function(name)) functions.emplace_back(name);
  return functions;
}

std::string guards_of(const std::vector<std::string>& functions) {
  std::string text(kAsk);
  for (std::size_t i = 0; i < functions.size(); ++i)
    text += fmt::format(fmt::runtime(kGuard), functions[i], i);
  return text + "\t.section\t.note.GNU-stack,\"\",@progbits\n";
}

}  // namespace course::grading
