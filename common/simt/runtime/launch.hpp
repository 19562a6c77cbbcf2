#pragma once
/// @file
/// Runs the blocks of one launch on the machine's cores, with a watchdog.

#include <cstdint>
#include <string>
#include <vector>

#include "simt/control.hpp"
#include "simt/runtime/block.hpp"
#include "simt/runtime/fault.hpp"
#include "simt/runtime/stream_order.hpp"
#include "simt/shim/simt_vector_types.h"

namespace simt {

/// A launch that passed the checks of the runtime API.
struct Launch {
  std::string name;  ///< the kernel as written
  dim3 grid, block;
  std::size_t dynamic_shared_bytes = 0;
  void (*invoke)(void*) = nullptr;
  void* arguments = nullptr;
  std::size_t arguments_bytes = 0;
  bool cooperative = false;
  CallStack caller;          ///< of a library's algorithm: where the program called it; else empty
  std::uint64_t number = 0;  ///< for HostTouches; 0: it watches nothing
  bool comes_last = false;   ///< no host code comes after it that could read what it leaves
  StreamOrder order{};       ///< among the operations of all streams
};

/// @brief Runs the whole grid and returns when its last block has ended.
/// @param nested Becomes what its threads have launched, in an order in which it may run.
/// @return the fault of the lowest block that had one; FaultKind::none if all went well.
/// Cost: a launch of one block runs on the calling thread; more blocks wake the pool (about 10 us).
RawFault run_launch(const Launch& launch, const Settings& settings, std::vector<NestedLaunch>& nested);

}  // namespace simt
