// cpu, line 22: A dim3, such as blockDim, is three numbers: take one of them, as in blockDim.x, for a
//   calculation.

#include "block_matmul.hpp"

#include <cuda_runtime.h>

namespace course {

__global__ void matmul_kernel(View<const float, 2> A, View<const float, 2> B, View<float, 2> C) {
  const std::int64_t row = std::int64_t{blockIdx.y} * kTile + threadIdx.y;
  const std::int64_t col = std::int64_t{blockIdx.x} * kTile + threadIdx.x;
  float sum = 0.0f;
  for (std::int64_t k = 0; k < A.shape[1]; ++k) {
    sum += A.data[row * A.strides[0] + k * A.strides[1]] * B.data[k * B.strides[0] + col * B.strides[1]];
  }
  if (row < C.shape[0] && col < C.shape[1]) C.data[row * C.strides[0] + col * C.strides[1]] = sum;
}

void matmul(View<const float, 2> A, View<const float, 2> B, View<float, 2> C) {
  const dim3 block(kTile, kTile);
  const dim3 grid(C.shape[1] / block, (C.shape[0] + kTile - 1) / kTile);
  matmul_kernel<<<grid, block>>>(A, B, C);
}

}  // namespace course
