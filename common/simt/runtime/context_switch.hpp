#pragma once
/// @file
/// From one stack to another.
///
/// On x86-64, unless SIMT_BOOST_CONTEXT is defined, this is inlined where it is used. Elsewhere it is
/// Boost.Context's.

#include <cstddef>
#include <cstdint>

#if !defined(__x86_64__) && !defined(SIMT_BOOST_CONTEXT)
#define SIMT_BOOST_CONTEXT
#endif
#ifdef SIMT_BOOST_CONTEXT
#include <boost/context/detail/fcontext.hpp>
#endif

namespace simt {

/// Of a function in which a thread waits: it returns to the kernel by a jump. A processor predicts that a
/// return goes to where the latest call was, and that call was another thread's, as a rule at another place:
/// while threads go on from one barrier, each comes to the next and calls there. A jump is predicted to go
/// where it went before, and that is right until the last thread of the block has gone on.
#if defined(__x86_64__) && __has_attribute(function_return)
#define SIMT_RETURN_BY_JUMP __attribute__((function_return("thunk-extern")))
asm(R"(
  .pushsection .text
__x86_return_thunk:  # the name that compilers jump to; each file has its own
  pop %rcx
  jmp *%rcx
  .popsection
)");
#else
#define SIMT_RETURN_BY_JUMP
#endif

#ifndef SIMT_BOOST_CONTEXT

/// Where a suspended stack ends; what it needs to go on lies there.
using StackPlace = void*;

/// A stack that will begin with `kMain`, which must not return.
template <void (*kMain)()>
StackPlace new_stack(void* top, std::size_t) {
  constexpr std::uintptr_t kAlignment = 16;
  auto** const end = reinterpret_cast<void**>(reinterpret_cast<std::uintptr_t>(top) & ~(kAlignment - 1));
  end[-1] = nullptr;  // its return address: here a walk along the calls ends
  end[-2] = reinterpret_cast<void*>(kMain);
  return end - 2;
}

/// Suspends the running stack, stores where it ends, and goes on at `to`. Registers that say how
/// floating-point numbers are rounded stay as they are. The file that uses it needs -mno-red-zone: values are
/// pushed below the stack's end.
__attribute__((always_inline)) inline void switch_stack(StackPlace& suspended, StackPlace to) {
  StackPlace* save = &suspended;
  asm volatile(
      "push %%rbp\n\t"
      "lea 1f(%%rip), %%rax\n\t"
      "push %%rax\n\t"
      "mov %%rsp, (%0)\n\t"
      "mov %1, %%rsp\n\t"
      "pop %%rax\n\t"
      "jmp *%%rax\n"
      "1:\n\t"
      "pop %%rbp"
      : "+D"(save), "+S"(to)
      :
      : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0", "xmm1",
        "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13",
        "xmm14", "xmm15", "cc", "memory");
}

#else

using StackPlace = boost::context::detail::fcontext_t;

inline void switch_stack(StackPlace& suspended, StackPlace to) {
  const auto from = boost::context::detail::jump_fcontext(to, &suspended);
  *static_cast<StackPlace*>(from.data) = from.fctx;
}

template <void (*kMain)()>
StackPlace new_stack(void* top, std::size_t bytes) {
  return boost::context::detail::make_fcontext(top, bytes, [](boost::context::detail::transfer_t from) {
    *static_cast<StackPlace*>(from.data) = from.fctx;
    kMain();
  });
}

#endif

#ifdef __x86_64__
#define SIMT_VECTOR_REGISTERS                                                                                \
  "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", \
      "xmm13", "xmm14", "xmm15"
#endif

/// Leaves nothing in registers that a function may change, where a call through a pointer to a function of
/// another type could leave a number, or find one.
inline void clear_registers() {
#ifdef __x86_64__
  asm volatile("emms" ::: "st", "st(1)", "st(2)", "st(3)", "st(4)", "st(5)", "st(6)", "st(7)");
  if (__builtin_cpu_supports("avx"))
    asm volatile("vzeroall" ::: SIMT_VECTOR_REGISTERS);
  else
    asm volatile(
        ".irp number, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n\tpxor %%xmm\\number, %%xmm\\number\n\t.endr" ::
            : SIMT_VECTOR_REGISTERS);
  asm volatile(".irp name, eax,ecx,edx,esi,edi,r8d,r9d,r10d,r11d\n\txor %%\\name, %%\\name\n\t.endr" ::
                   : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "cc");
#endif
}

}  // namespace simt
