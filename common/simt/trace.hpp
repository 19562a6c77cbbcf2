#pragma once
/// @file
/// The accesses of one block, warp instruction by warp instruction: enough to draw which thread touched which
/// element when.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace simt {

/// What to record. Nothing is recorded unless asked for: a trace of everything would fill any disk.
struct TraceRequest {
  unsigned launch = 0;              ///< number of the launch, from 0
  std::array<unsigned, 3> block{};  ///< blockIdx
  int warp = -1;                    ///< number of the warp in its block; -1: all
  std::size_t most_steps = 10000;   ///< warp instructions after which recording stops
};

/// What a parameter of the kernel points to.
struct TracedArray {
  std::string name;           ///< "a", or "Q.data" of a strided view Q
  std::uint64_t address = 0;  ///< in device memory
  std::size_t element_bytes = 0;
  std::vector<std::int64_t> shape, strides;  ///< of a view, in elements; empty for a plain pointer
};

/// What one lane did in a step.
struct LaneAccess {
  unsigned lane = 0;
  std::array<unsigned, 3> thread{};
  std::int64_t offset = 0;  ///< in bytes from the start of the array, or of its memory if it has no name
  std::vector<std::int64_t> index;  ///< of the element; empty if the array is unknown
  std::uint64_t address = 0;  ///< in device memory or the block's shared memory, in bytes: sectors and banks
                              ///< follow from it
};

/// One warp instruction, or one barrier.
struct TraceStep {
  unsigned warp = 0;
  std::string kind;    ///< "load", "store", "atomic", "barrier", "syncwarp", "shuffle", "vote"
  std::string memory;  ///< "global", "shared" or empty
  std::string array;   ///< its name; empty if unknown
  unsigned bytes = 0;  ///< of each lane's access
  std::string file;
  int line = 0;
  std::uint64_t sectors = 0, wavefronts = 0;  ///< as in profile.hpp
  std::uint32_t active = 0;                   ///< mask of the lanes
  std::vector<LaneAccess> lanes;              ///< of an access
};

struct Trace {
  TraceRequest request;
  std::string kernel;
  std::array<unsigned, 3> grid{}, block_shape{};
  bool complete = true;  ///< false: recording stopped at most_steps
  std::vector<TracedArray> arrays;
  std::vector<TraceStep>
      steps;  ///< warp by warp between two barriers, in the order in which a warp issued them
};

/// @brief Records that block of that launch from now on; the count of launches begins again at 0.
void start_trace(const TraceRequest& request);

/// @brief Runs what is queued and returns what was recorded. Without the launch or the block, it has no
/// steps.
Trace take_trace();

}  // namespace simt
