#pragma once
// The marks that tell a profiler where to begin and end; without one they mean nothing.

#include "cuda_runtime_api.h"

inline cudaError_t cudaProfilerStart() { return cudaSuccess; }
inline cudaError_t cudaProfilerStop() { return cudaSuccess; }
