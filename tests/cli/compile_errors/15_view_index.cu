// cpu, line 12: A View takes its indices in round brackets, as in x(row, col).

#include "flash2_backward.hpp"

#include <cuda_runtime.h>

#include "device/attention_tile.hpp"

namespace course {

__global__ void delta_kernel(View<float, 3> delta) {
  device::row_of(delta, blockIdx.z, blockIdx.y)[std::int64_t{threadIdx.x}] = 0.0f;
}

}  // namespace course
