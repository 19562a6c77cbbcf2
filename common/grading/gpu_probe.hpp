#pragma once
/// @file
/// Whether this machine has a GPU that answers.

#include <string>

namespace course::grading {

struct GpuProbe {
  bool answers = false;
  std::string name;          ///< e.g. "NVIDIA H200"
  std::string architecture;  ///< its compute capability without the dot, e.g. "90"
  std::string why_not;       ///< a clause, if it does not answer
};

/// @brief Asks the CUDA driver for the first device. Needs neither the CUDA toolkit nor nvidia-smi.
/// Cost: under a millisecond without a driver, a few tenths of a second with one.
GpuProbe probe_gpu();

}  // namespace course::grading
