#pragma once
/// @file
/// The one way in which this course checks calls of the CUDA runtime.

#include <cuda_runtime.h>

#include <stdexcept>
#include <string>

namespace course::device {

/// @brief Does nothing for cudaSuccess; otherwise throws, with everything needed to find the mistake.
/// Called through CUDA_CHECK, which fills in expression, file and line.
/// @throws std::runtime_error: "a.cu:12: cudaFree(p) failed with cudaErrorInvalidValue: invalid argument".
inline void check_cuda(cudaError_t error, const char* expression, const char* file, int line) {
  if (error == cudaSuccess) return;
  throw std::runtime_error(std::string(file) + ":" + std::to_string(line) + ": " + expression +
                           " failed with " + cudaGetErrorName(error) + ": " + cudaGetErrorString(error));
}

}  // namespace course::device

/// @brief Evaluates a call that returns cudaError_t once, and throws std::runtime_error unless it succeeded.
/// Not for destructors, which must not throw. A launch returns nothing: check cudaGetLastError() after it.
#define CUDA_CHECK(...) ::course::device::check_cuda((__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)
