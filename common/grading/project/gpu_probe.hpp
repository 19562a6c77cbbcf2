#pragma once
/// @file
/// Whether this machine has a GPU that answers.

#include <cstdint>
#include <string>

namespace course::grading {

struct GpuProbe {
  bool answers = false;
  std::string name;          ///< e.g. "NVIDIA H200"
  std::string architecture;  ///< its compute capability without the dot, e.g. "90"
  std::uint64_t memory_bytes = 0;
  std::string driver_cuda;  ///< the newest CUDA that the driver knows, e.g. "13.0"; empty if it does not say
  std::string why_not;      ///< a clause, if it does not answer
};

/// @brief Asks the CUDA driver for the first device. Needs neither the CUDA toolkit nor nvidia-smi.
/// Cost: under a millisecond without a driver, a few tenths of a second with one.
GpuProbe probe_gpu();

}  // namespace course::grading
