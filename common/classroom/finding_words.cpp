#include "classroom/finding_words.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace course::classroom {
namespace {

using Words = std::pair<std::string_view, std::string_view>;

constexpr std::array kWords = {
    Words{"abort", "A kernel calls abort(), itself or within the standard library."},
    Words{"assertion", "The condition of an assert() in a kernel does not hold."},
    Words{"bad_copy", "A cudaMemcpy has the wrong direction, a null pointer, or too many bytes."},
    Words{"bad_free", "cudaFree gets a pointer that is not from cudaMalloc, or gets it a second time."},
    Words{"bad_memset", "A cudaMemset goes beyond its allocation."},
    Words{"bank_conflict",
          "Lanes of a warp want different words of one bank of shared memory, and queue for it."},
    Words{"deadlock", "All threads of a block wait, and none of them can go on."},
    Words{"device_pointer_on_host", "Host code reads or writes device memory directly."},
    Words{"divergent_barrier", "Threads of a block wait at __syncthreads() calls on different lines."},
    Words{"division_by_zero", "An integer is divided by zero."},
    Words{"endless_loop", "A kernel was stopped because it did not come to its end in time."},
    Words{"exception", "A kernel throws an exception and does not catch it."},
    Words{"exited_threads",
          "Some lanes of a warp have returned while the others wait for them at a barrier."},
    Words{"host_pointer_in_kernel", "A kernel follows a pointer to memory of the host."},
    Words{"illegal_address", "A kernel uses an address that is far from every allocation."},
    Words{"illegal_instruction",
          "A kernel comes to a place that the compiler took for unreachable, such as the end of a "
          "function without its return."},
    Words{"illegal_mask", "A lane calls a warp operation whose mask leaves it out."},
    Words{"inactive_lane", "A shuffle reads from a lane that takes no part in it."},
    Words{"launch_refused",
          "CUDA does not accept a launch: too many threads, too much shared memory, or no blocks."},
    Words{"leak", "Device memory is allocated and never freed."},
    Words{"misaligned",
          "A vector load or store, such as float4, is at an address that is no multiple of its size."},
    Words{"missing_syncwarp", "Lanes of one warp exchange values through memory without __syncwarp()."},
    Words{"missing_wait", "Data of an asynchronous copy is used before anybody waited for it."},
    Words{"null_pointer", "A kernel reads or writes through a null pointer."},
    Words{"out_of_bounds",
          "A thread reads or writes outside of its array; mostly a test of the index is missing."},
    Words{"race", "Two threads use the same element, one of them writes, and no barrier lies between."},
    Words{"same_value_write",
          "Several threads write the same value to one element: harmless, but not ordered."},
    Words{"shift", "A number is shifted by as many bits as it has, or more, or by less than none."},
    Words{"stack_overflow", "Recursion or local arrays need more stack than a thread has."},
    Words{"trap", "A kernel stops itself with __trap()."},
    Words{"unchecked_error", "A CUDA call was refused, and nobody asked for the error."},
    Words{"uncoalesced_load",
          "Lanes of a warp load from places far apart, so most of what is moved is not used."},
    Words{"uninitialised_read", "A kernel reads memory that nothing has written before."},
};

}  // namespace

std::string_view finding_words(std::string_view name) {
  const auto found =
      std::find_if(kWords.begin(), kWords.end(), [&](const Words& words) { return words.first == name; });
  return found == kWords.end() ? std::string_view{} : found->second;
}

}  // namespace course::classroom
