#pragma once
// Comes before a CUDA file of a program: what nvcc defines, which programs ask for, and CUDA's header, which
// it includes by itself. g++ reads it precompiled.

#define __CUDACC__ 1
#define __NVCC__ 1
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 4
#define __CUDACC_EXTENDED_LAMBDA__ 1

#include "cuda_runtime.h"
