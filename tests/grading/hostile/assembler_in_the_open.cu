// hostile: Ends the process by assembler in plain sight, in a function for the host.
// lesson: 01
// verdict: not_compiled
// says: an asm statement, which is for the processor
// trick: compile

#include "vector_add.hpp"

namespace course {

void vector_add(const float*, const float*, float*, std::int64_t) {
  asm volatile("mov $231, %eax\n\txor %edi, %edi\n\tsyscall");
}

void vector_add_host(const float*, const float*, float*, std::int64_t) {}

}  // namespace course
