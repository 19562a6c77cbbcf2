// The hooks that kernels call all the time: one for each size of a plain access, as the compilers' thread
// sanitizer names them, and one for each basic block and each function. Host code of the same file calls them
// as well, so the first thing that each does is to find out whether a kernel runs.
//
// They are part of libsimt.so, and of every standalone program once more. A program lies more than 4 GB away
// from its libraries, and on AMD's processors a call over such a distance takes longer than the hook.

#include "simt/check/common_hooks.hpp"

#define SIMT_COMMON_HOOKS(BYTES, LOG2_BYTES)                    \
  SIMT_ACCESS_HOOK(__tsan_read##BYTES, read, LOG2_BYTES, false) \
  SIMT_ACCESS_HOOK(__tsan_write##BYTES, write, LOG2_BYTES, false)

extern "C" {

SIMT_COMMON_HOOKS(1, 0)
SIMT_COMMON_HOOKS(2, 1)
SIMT_COMMON_HOOKS(4, 2)
SIMT_COMMON_HOOKS(8, 3)
SIMT_COMMON_HOOKS(16, 4)

void __tsan_func_entry(void* return_address) {
  if (simt::check::Recorder* r = simt::check::active_recorder) {
    const std::uint64_t call = simt::check::inside_call(return_address) - r->code;
    r->append(simt::check::mark_event(simt::check::Mark::enter) |
                  (call < r->code_bytes ? call : simt::check::kWindowBytes - 1),
              simt::check::inside_call(__builtin_return_address(0)));
  }
}
void __tsan_func_exit() {
  if (simt::check::Recorder* r = simt::check::active_recorder)
    r->append(simt::check::mark_event(simt::check::Mark::leave),
              simt::check::inside_call(__builtin_return_address(0)));
}

void __sanitizer_cov_trace_pc() {
  if (simt::check::Recorder* r = simt::check::active_recorder)
    r->append(simt::check::mark_event(simt::check::Mark::block),
              simt::check::inside_call(__builtin_return_address(0)));
}

}  // extern "C"
