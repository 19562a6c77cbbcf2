// cpu, line 17: There is one '}' too many above line 17: the one on line 16 already ends half_kernel.

#include "matrix_strides.hpp"

#include <cuda_runtime.h>

namespace course {

__global__ void half_kernel(const float* in, float* out) {
  __shared__ float tile[kTile];
  for (int x = threadIdx.x; x < kTile; x += kBlockRows) {
    if (x % 2 == 0) {
      tile[x] = in[x];
    }
  }
  }
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x];
}

}  // namespace course
