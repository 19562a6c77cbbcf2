// The 32-bit window through which PTX sees shared memory: static variables from 1 KB on, as on a GPU that
// keeps the first kilobyte for itself, and the dynamic buffer from 1 MB on. Addresses keep their alignment up
// to 1 KB, which the swizzles of tensor cores look at.

#include <cstdio>

#include "simt/runtime/block.hpp"
#include "simt/shim/simt_ptx.h"

namespace simt {
namespace {

constexpr std::uint64_t kStatic = 1024, kDynamic = 1u << 20, kEnd = kDynamic + (1u << 20);

}  // namespace

void BlockRunner::find_static_shared(const KernelModule& module) {
  const auto storage = reinterpret_cast<std::uintptr_t>(thread_local_storage(module));
  static_shared_ = reinterpret_cast<std::byte*>(storage & ~(kStatic - 1));
}

bool BlockRunner::is_shared(const void* address) const {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  if (at - reinterpret_cast<std::uintptr_t>(dynamic_shared_) < kMaxDynamicSharedBytes) return true;
  if (static_shared_ == nullptr) return false;
  const std::uintptr_t storage = reinterpret_cast<std::uintptr_t>(thread_local_storage(*launch_->module));
  for (const SharedVariable& variable : launch_->module->shared)
    if (at - (storage + variable.offset) < variable.bytes) return true;
  return false;
}

bool BlockRunner::is_on_stack(const void* address) const {
  const auto top = reinterpret_cast<std::uintptr_t>(fiber_->top());
  return top - reinterpret_cast<std::uintptr_t>(address) <= kStackBytes;
}

std::uint32_t BlockRunner::to_shared(const void* address) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  if (const std::uintptr_t offset = at - reinterpret_cast<std::uintptr_t>(dynamic_shared_);
      offset < kMaxDynamicSharedBytes)
    return static_cast<std::uint32_t>(kDynamic + offset);
  const std::uintptr_t offset = at - reinterpret_cast<std::uintptr_t>(static_shared_);
  // What lies in neither has no such address; a GPU takes the lower half of the pointer.
  return static_cast<std::uint32_t>(offset < kDynamic - kStatic ? kStatic + offset : at);
}

void* BlockRunner::from_shared(std::uint64_t address) {
  if (address - kDynamic < kEnd - kDynamic)
    return static_cast<std::byte*>(dynamic_shared_) + (address - kDynamic);
  if (address - kStatic < kDynamic - kStatic && static_shared_ != nullptr)
    return static_shared_ + (address - kStatic);
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(address));
  raise(FaultKind::shared_address, text);
}

}  // namespace simt

namespace {

simt::BlockRunner& runner() {
  if (simt::BlockRunner* current = simt::BlockRunner::current()) return *current;
  throw std::logic_error(
      "an address of shared memory was asked for by host code; it exists only inside kernels");
}

}  // namespace

extern "C" {

std::uint32_t simt_to_shared(const void* address) { return runner().to_shared(address); }
void* simt_from_shared(std::uint64_t shared_address) { return runner().from_shared(shared_address); }

}  // extern "C"
