// cpu, line 10: max takes two values: of three, write max(a, max(b, c)).

#include "flash2_forward.hpp"

#include <cuda_runtime.h>

namespace course {

__global__ void largest_kernel(float* out, float m, float s) {
  out[threadIdx.x] = max(m, s, 0.0f);
}

}  // namespace course
