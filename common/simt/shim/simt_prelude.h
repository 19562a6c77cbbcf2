#pragma once
// Comes before the kernel of a lesson: CUDA's header, which nvcc includes by itself, and the standard headers
// that device/cuda_check.hpp brings to all of them. g++ reads it precompiled.

#include "cuda_runtime.h"

#include <stdexcept>
#include <string>

// A kernel is not to know in which mode it runs, so that it cannot behave better where it is watched.
#undef SIMT_CHECK
#undef __SANITIZE_THREAD__
