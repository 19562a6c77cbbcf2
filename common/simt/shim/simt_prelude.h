#pragma once
// Comes before the kernel of a lesson: CUDA's header, which nvcc includes by itself, and the standard headers
// that device/cuda_check.hpp brings to all of them. g++ reads it precompiled.

#include "cuda_runtime.h"

#include <stdexcept>
#include <string>
