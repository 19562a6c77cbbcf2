// Static shared memory of two dimensions, nested constants, a const kernel parameter by value.
#include <cuda_runtime.h>

struct Shape { int rows, cols; };

template <int kTile, int kRows = kTile / 4>
__global__ void __launch_bounds__(kTile * kRows) transpose_kernel(const float* in, float* out, const Shape shape) {
  __shared__ float tile[kTile][kTile + 1];  // +1: columns fall into different banks
  int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  for (int j = 0; j < kTile; j += kRows)
    if (x < shape.cols && y + j < shape.rows) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * shape.cols + x];
  __syncthreads();
  x = blockIdx.y * kTile + threadIdx.x;
  y = blockIdx.x * kTile + threadIdx.y;
  for (int j = 0; j < kTile; j += kRows)
    if (x < shape.rows && y + j < shape.cols) out[(y + j) * shape.rows + x] = tile[threadIdx.x][threadIdx.y + j];
}

void transpose(const float* in, float* out, int rows, int cols) {
  constexpr int kTile = 32;
  const auto ceil_div = [](int a, int b) -> unsigned { return (a + b - 1) / b; };
  transpose_kernel<kTile>
      <<<dim3{ceil_div(cols, kTile), ceil_div(rows, kTile)},  // a block for each tile
         dim3(kTile, kTile / 4)>>>(in, out, Shape{rows, cols});
  transpose_kernel<kTile, 16><<<{ceil_div(cols, kTile), ceil_div(rows, kTile)}, {kTile, 16}>>>(in, out, Shape{rows, cols});
}
