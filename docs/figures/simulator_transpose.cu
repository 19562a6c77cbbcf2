// Transposes a matrix of 32 x 32 numbers in one block, three times: without a tile, through a tile whose rows
// are 32 words long, and through one whose rows are 33. scripts/figure_simulator.py records what a warp
// touches, and draws it.

#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

#include "device/cuda_check.hpp"

namespace {

constexpr int kTile = 32;

/// out[col][row] = in[row][col]. Neighbouring threads read side by side and write a row apart.
__global__ void transpose_without_tile_kernel(const float* in, float* out) {
  const int col = static_cast<int>(threadIdx.x), row = static_cast<int>(threadIdx.y);
  out[col * kTile + row] = in[row * kTile + col];
}

// [tile]
/// out[col][row] = in[row][col], through a tile in shared memory whose rows are kRowWords words long.
template <int kRowWords>
__global__ void transpose_kernel(const float* in, float* out) {
  __shared__ float tile_smem[kTile][kRowWords];
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  tile_smem[y][x] = in[y * kTile + x];
  __syncthreads();  // the tile is complete: a thread may read what others wrote
  out[y * kTile + x] = tile_smem[x][y];
}
// [tile]

/// Whether out is the transpose of 0, 1, 2, ...
bool is_transposed(const float* out_device) {
  std::vector<float> out(kTile * kTile);
  CUDA_CHECK(cudaMemcpy(out.data(), out_device, out.size() * sizeof(float), cudaMemcpyDeviceToHost));
  for (int row = 0; row < kTile; ++row) {
    for (int col = 0; col < kTile; ++col) {
      if (out[static_cast<std::size_t>(row * kTile + col)] != static_cast<float>(col * kTile + row))
        return false;
    }
  }
  return true;
}

}  // namespace

int main() {
  std::vector<float> in(kTile * kTile);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i);
  const std::size_t bytes = in.size() * sizeof(float);
  float *in_device = nullptr, *out_device = nullptr;
  CUDA_CHECK(cudaMalloc(&in_device, bytes));
  CUDA_CHECK(cudaMalloc(&out_device, bytes));
  CUDA_CHECK(cudaMemcpy(in_device, in.data(), bytes, cudaMemcpyHostToDevice));

  bool right = true;
  const dim3 block(kTile, kTile);
  transpose_without_tile_kernel<<<1, block>>>(in_device, out_device);  // launch 0
  CUDA_CHECK(cudaGetLastError());
  right = is_transposed(out_device) && right;
  transpose_kernel<kTile><<<1, block>>>(in_device, out_device);  // launch 1
  CUDA_CHECK(cudaGetLastError());
  right = is_transposed(out_device) && right;
  transpose_kernel<kTile + 1><<<1, block>>>(in_device, out_device);  // launch 2
  CUDA_CHECK(cudaGetLastError());
  right = is_transposed(out_device) && right;

  CUDA_CHECK(cudaFree(in_device));
  CUDA_CHECK(cudaFree(out_device));
  std::puts(right ? "transposed three times" : "wrong");
  return right ? 0 : 1;
}
