#pragma once
/// @file
/// The limits and figures of the GPUs that the simulator can stand in for.

#include <cstddef>
#include <cstdint>
#include <string>

namespace simt {

struct DeviceProfile {
  const char* key;   ///< the name in Settings::device
  const char* name;  ///< what cudaGetDeviceProperties reports
  int major, minor;  ///< compute capability
  int multiprocessors;
  int threads_per_multiprocessor;
  int blocks_per_multiprocessor;
  std::size_t shared_per_block;        ///< without opting in
  std::size_t shared_per_block_optin;  ///< with cudaFuncAttributeMaxDynamicSharedMemorySize
  std::size_t shared_per_multiprocessor;
  std::size_t global_memory_bytes;
  int l2_bytes;
  std::uint32_t max_grid_x;
};

inline constexpr int kWarpSize = 32;
inline constexpr unsigned kMaxThreadsPerBlock = 1024;
inline constexpr unsigned kMaxBlockDim[3] = {1024, 1024, 64};
inline constexpr unsigned kMaxGridYZ = 65535;
inline constexpr std::size_t kMaxDynamicSharedBytes = 227 * 1024;  ///< the largest of all profiles
inline constexpr std::size_t kReservedSharedBytes = 1024;          ///< of each resident block, for the system

/// @brief The profile with that key, e.g. "h200". @throws std::invalid_argument that lists the known keys.
const DeviceProfile& device_profile(const std::string& key);

}  // namespace simt
