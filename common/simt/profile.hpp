#pragma once
/// @file
/// What check mode counts, in the units of the hardware's profiler. All counts are exact.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace simt {

/// Traffic between warps and global memory, of one kind of access.
struct GlobalTraffic {
  std::uint64_t requests = 0;       ///< warp instructions
  std::uint64_t sectors = 0;        ///< pieces of 32 bytes that they touch
  std::uint64_t ideal_sectors = 0;  ///< what they would touch if their bytes lay side by side
  std::uint64_t bytes_asked = 0;    ///< by the lanes
  std::uint64_t bytes = 0;          ///< moved: 32 for each sector

  bool operator==(const GlobalTraffic&) const = default;
};

/// Traffic between warps and shared memory, of one kind of access.
struct SharedTraffic {
  std::uint64_t requests = 0;          ///< warp instructions
  std::uint64_t wavefronts = 0;        ///< passes through the 32 banks
  std::uint64_t ideal_wavefronts = 0;  ///< what they would take without bank conflicts
  std::uint64_t bytes_asked = 0;       ///< by the lanes

  std::uint64_t conflicts() const { return wavefronts - ideal_wavefronts; }
  bool operator==(const SharedTraffic&) const = default;
};

/// Everything that is counted, of one source line or of a whole launch.
struct Counters {
  GlobalTraffic global_load, global_store, global_atomic;
  SharedTraffic shared_load, shared_store, shared_atomic;
  std::uint64_t barriers = 0;    ///< warps that arrive at __syncthreads()
  std::uint64_t warp_syncs = 0;  ///< __syncwarp(), by warp
  std::uint64_t signals = 0;     ///< volatile stores to global memory, by warp, of which barriers can be made
  /// By warp; with movmatrix, and each value that a tile of several warps hands over.
  std::uint64_t shuffles = 0;
  std::uint64_t votes = 0;                ///< ballots, active masks, votes, matches, reductions, by warp
  std::uint64_t matrix_instructions = 0;  ///< matrix products, by warp
  // The multiply-adds of matrix products, by the format of the factors.
  std::uint64_t matrix_float16 = 0;  ///< f16 and bf16
  std::uint64_t matrix_float8 = 0;   ///< e4m3 and e5m2
  std::uint64_t matrix_tf32 = 0;
  std::uint64_t matrix_f64 = 0;
  std::uint64_t matrix_integer8 = 0;  ///< s8 and u8
  // Arithmetic in float, by warp, as far as it can be seen in the kernel's machine code.
  std::uint64_t float_instructions = 0;    ///< multiply-adds, and what may be one: see BlockWork
  std::uint64_t special_instructions = 0;  ///< exponentials, reciprocals, roots and their like
  std::uint64_t steps = 0;                 ///< straight pieces of code (basic blocks), by warp
  std::uint64_t divergent_steps = 0;       ///< of those, with some lanes of the warp elsewhere
  std::uint64_t lanes = 0;                 ///< lanes in all steps; 32 * steps is the ideal

  Counters& operator+=(const Counters& other);
  bool operator==(const Counters&) const = default;
  bool empty() const;  ///< nothing was counted
};

struct LineProfile {
  std::string file;  ///< empty if unknown
  int line = 0;
  Counters counters;
};

/// How the work of a launch is spread over its blocks, which a GPU starts in the order of their numbers, and
/// over their warps. The work of a warp is the number of its accesses to memory and of its matrix products.
struct BlockOrder {
  std::uint64_t blocks = 0;
  std::uint64_t work = 0;          ///< of all blocks
  std::uint64_t largest = 0;       ///< of the block that has most
  std::uint64_t last_largest = 0;  ///< of a block among the last tenth, at most
  std::uint64_t busiest = 0;       ///< of the warp of each block that has most, summed over the blocks

  /// @brief How many times the mean work a block has that starts among the last: the GPU waits for it while
  /// most of its multiprocessors have nothing to do. 0 of fewer than ten blocks, which have no last tenth,
  /// and without work.
  double last_over_mean() const {
    return blocks < 10 || work == 0 ? 0.0
                                    : static_cast<double>(last_largest * blocks) / static_cast<double>(work);
  }
  /// @brief The share of a block's work that its busiest warp has; 1 of the number of warps is the ideal. 0
  /// without work.
  double busiest_share() const {
    return work == 0 ? 0.0 : static_cast<double>(busiest) / static_cast<double>(work);
  }
  /// @brief Adds the work of the warps of block number `number`.
  void add(std::uint64_t number, const std::vector<std::uint64_t>& of_warps) {
    std::uint64_t of_block = 0, most = 0;
    for (const std::uint64_t of_warp : of_warps) {
      of_block += of_warp;
      most = of_warp > most ? of_warp : most;
    }
    work += of_block;
    busiest += most;
    if (of_block > largest) largest = of_block;
    if (number + (blocks + 9) / 10 >= blocks && of_block > last_largest) last_largest = of_block;
  }
  bool operator==(const BlockOrder&) const = default;
};

/// How far asynchronous copies run ahead of what uses them: the bytes of its own copies that a lane has under
/// way while it accesses memory, times the bytes that it accesses, summed over lanes. Of a lane that sends no
/// copies, they are its share of the block's. Divided by the bytes that were accessed, it is the mean.
struct CopiesAhead {
  std::uint64_t of_shared_loads = 0, of_global_stores = 0;

  bool operator==(const CopiesAhead&) const = default;
};

/// One launch.
struct LaunchProfile {
  std::string kernel;  ///< as written
  std::array<unsigned, 3> grid{}, block{};
  Counters total;
  std::vector<LineProfile> lines;  ///< by file and line
  BlockOrder order{};
  BlockOrder loads{};   ///< the same, where work is sectors that loads touch in global memory
  BlockOrder stores{};  ///< and where it is bytes that stores and atomics bring there
  CopiesAhead copies_ahead{};
};

/// @brief Runs what is queued and returns what was counted since the last call, one entry for each launch, in
/// order.
std::vector<LaunchProfile> take_profiles();

/// @brief Runs what is queued and returns how many bytes the variables of the program have that kernels
/// stored to since the last call, each once a launch: in check mode, and with Settings::keeps_apart those
/// that they changed. Host code can read them without a copy, which on a GPU it cannot: a `__device__`
/// variable is one like any other here.
std::uint64_t take_stored_variables();

}  // namespace simt
