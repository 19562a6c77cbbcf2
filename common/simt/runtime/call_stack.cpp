#include "simt/runtime/call_stack.hpp"

#include <unwind.h>

#include <algorithm>
#include <iterator>

namespace simt {
namespace {

_Unwind_Reason_Code take_frame(_Unwind_Context* context, void* out) {
  auto& stack = *static_cast<CallStack*>(out);
  int before_instruction = 0;
  const std::uintptr_t pc = _Unwind_GetIPInfo(context, &before_instruction);
  if (pc == 0 || stack.count == std::size(stack.pcs)) return _URC_END_OF_STACK;
  stack.pcs[stack.count++] = before_instruction != 0 ? pc : pc - 1;  // a return address: back into the call
  return _URC_NO_REASON;
}

}  // namespace

bool CallStack::same_calls(const CallStack& other, std::uintptr_t pc) const {
  const auto *end = pcs + count, *other_end = other.pcs + other.count;
  const auto* from = std::find(pcs, end, pc);
  const auto* other_from = std::find(other.pcs, other_end, pc);
  return from != end && std::equal(from, end, other_from, other_end);
}

CallStack CallStack::here() {
  CallStack stack;
  _Unwind_Backtrace(take_frame, &stack);
  return stack;
}

CallStack CallStack::at(std::uintptr_t pc) {
  CallStack stack;
  stack.pcs[0] = pc;
  stack.count = 1;
  return stack;
}

}  // namespace simt
