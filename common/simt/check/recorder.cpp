#include "simt/check/recorder.hpp"

#include <algorithm>
#include <cstring>

#include "simt/check/memory_map.hpp"
#include "simt/runtime/block.hpp"

namespace simt::check {

constinit thread_local Recorder* active_recorder = nullptr;

void ThreadTrace::make_room() {
  if (head == slots.data()) return;
  const auto left = static_cast<std::size_t>(tail - head);
  if (left > 0) std::memmove(slots.data(), head, left * sizeof(Event));
  head = slots.data();
  tail = head + left;
}

void ThreadTrace::lengthen() {
  const auto begin = head - slots.data(), end = tail - slots.data();
  slots.resize(slots.size() + kSlots);
  head = slots.data() + begin;
  tail = slots.data() + end;
}

void Recorder::start_block(int thread_count) {
  threads.resize(static_cast<std::size_t>(thread_count));
  for (ThreadTrace& trace : threads) {
    trace.slots.resize(ThreadTrace::kSlots + ThreadTrace::kSlack);
    trace.clear();
  }
  thread = -1;
  stored_bytes = 0;
  stack_only = false;
}

void Recorder::switch_to(int next) {
  if (thread >= 0) {
    settle();
    threads[static_cast<std::size_t>(thread)].tail = tail;
  }
  thread = next;
  if (next < 0) return;
  ThreadTrace& trace = threads[static_cast<std::size_t>(next)];
  tail = trace.tail;
  limit = trace.limit();
}

// A hash that is never 0: 0 stands for a value that is not known.
void Recorder::settle() {
  if (stored_bytes == 0) return;
  std::uint64_t low = 0, high = 0;
  if (stored_bytes == 16) {
    std::memcpy(&low, stored, 8);
    std::memcpy(&high, stored + 8, 8);
  } else {
    std::memcpy(&low, stored, stored_bytes);
  }
  stored_bytes = 0;
  *value = ((low ^ (high * 0xff51afd7ed558ccdu)) * 0x9e3779b97f4a7c15u >> 32) | 1u;
}

void Recorder::make_ready() {
  if (stack_only)
    BlockRunner::current()->raise(FaultKind::host_function,
                                  "a function of its own where a class is described");
  settle();
  if (tail >= limit) BlockRunner::current()->pause();
}

void Recorder::append_slowly(Event event) {
  if (stack_only && kind_of(event) == Kind::mark) return;
  make_ready();
  *tail++ = event;
}

void Recorder::append_read_slowly(Event event) {
  stored_bytes = 0;  // the write may not have happened yet: its value stays unknown
  append_slowly(event);
}

void Recorder::append_write_slowly(Event event, std::uintptr_t address, unsigned log2_bytes) {
  make_ready();
  put_write(event, address, log2_bytes);
}

bool Recorder::find_elsewhere(std::uintptr_t address, bool writes, std::uint64_t& offset, bool& stray) {
  FaultKind kind = FaultKind::host_pointer;
  switch (memory_map().find_elsewhere(address, offset)) {
    case MemoryMap::Owner::beside:
      stray = true;
      return true;
    case MemoryMap::Owner::kernels:
      return true;
    case MemoryMap::Owner::nobody:
      return false;
    case MemoryMap::Owner::program:
      if (!writes) return false;
      break;
    case MemoryMap::Owner::host:
      break;
    case MemoryMap::Owner::freed:
      kind = FaultKind::freed_memory;
      break;
  }
  settle();
  BlockRunner::current()->raise_access(kind, reinterpret_cast<const void*>(address));
}

void Recorder::refuse_misuse(std::uintptr_t address, bool writes) const {
  const std::uint64_t offset = address - shared;
  if (offset >= shared_bytes || is_shared_word[offset / 4] != kThreadLocal) return;
  const SharedRange* const variable = memory_map().find_shared(offset);
  if (variable == nullptr) return;
  const auto refuse = [](const char* what) {
    BlockRunner::current()->raise(FaultKind::misused_shared, what);
  };
  std::uintptr_t held = 0;
  std::memcpy(&held, reinterpret_cast<const std::byte*>(shared + variable->offset),
              std::min<std::size_t>(variable->bytes, sizeof held));
  if (variable->points_to_dynamic && held != dynamic + kMargin && !(writes && held == 0))
    refuse(
        "an array of dynamic shared memory after its address was changed, which is fixed on a GPU. Keep "
        "addresses in variables of your own");
  if (!variable->points_to_dynamic && held > 1)
    refuse("memory between its shared variables, which is the compiler's. Keep indices within the arrays");
}

void Recorder::refuse_write() { BlockRunner::current()->raise(FaultKind::told, ""); }

// The trace counts as full, so that each event goes the slow way.
StackOnly::StackOnly(Recorder& recorder)
    : recorder_(recorder), before_(active_recorder), limit_(recorder.limit) {
  recorder.settle();
  recorder.limit = recorder.tail;
  recorder.stack_only = true;
  active_recorder = &recorder;
}

StackOnly::~StackOnly() {
  active_recorder = before_;
  recorder_.stack_only = false;
  recorder_.limit = limit_;
}

}  // namespace simt::check
