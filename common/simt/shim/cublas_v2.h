#pragma once
// cuBLAS: CUDA's linear algebra, as far as the simulator has it. Matrices are stored by columns.

#include "simt_library.h"

#include "cuda_runtime.h"

#include "cuda_bf16.h"
#include "cuda_fp16.h"

#include "cublas_api.h"
