#pragma once
// Programs include this for CUDA_VERSION. The driver API itself (cuInit, cuLaunchKernel, ...) is not
// simulated.

#include "cuda_runtime_api.h"

#define CUDA_VERSION CUDART_VERSION
