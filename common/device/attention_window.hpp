#pragma once
/// @file
/// The keys that a tile of queries sees through a causal window: what lesson 12 works out.

#include <cuda_runtime.h>

#include <cstdint>

namespace course::device {

/// Keys [begin, end) are in the window of some query of a tile, keys [all_begin, all_end) in that of all.
struct WindowOfTile {
  std::int64_t begin, end, all_begin, all_end;
};

/// @brief The window of a tile whose queries stand at keys first_position to last_position. No sum overflows
/// as long as the window is not much longer than the sequences.
inline __device__ WindowOfTile window_of_tile(std::int64_t first_position, std::int64_t last_position,
                                              std::int64_t window) {
  return {max(first_position - window + 1, std::int64_t{0}), last_position + 1, last_position - window + 1,
          first_position + 1};
}

}  // namespace course::device
