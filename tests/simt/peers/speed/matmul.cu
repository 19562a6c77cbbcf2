// C = A B in tiles of 16 by 16 in shared memory, and how long the kernel takes.
//
//   matmul [REPETITIONS [FILE]]     FILE takes C, as 256 * 256 floats

#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

constexpr int kSize = 256, kTile = 16;

__global__ void matmul_kernel(const float* A, const float* B, float* C) {
  __shared__ float A_smem[kTile][kTile], B_smem[kTile][kTile];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * kTile + y, col = blockIdx.x * kTile + x;
  float sum = 0.0f;
  for (int first = 0; first < kSize; first += kTile) {
    A_smem[y][x] = A[row * kSize + first + x];
    B_smem[y][x] = B[(first + y) * kSize + col];
    __syncthreads();
    for (int k = 0; k < kTile; ++k) sum += A_smem[y][k] * B_smem[k][x];
    __syncthreads();
  }
  C[row * kSize + col] = sum;
}

/// Numbers in [-0.5, 0.5), the same in every language.
std::vector<float> numbers(int count, std::uint32_t seed) {
  std::vector<float> values(count);
  for (int i = 0; i < count; ++i) values[i] = float((i + seed) * 2654435761u >> 8) / 16777216.0f - 0.5f;
  return values;
}

int main(int argc, char** argv) {
  const int repetitions = argc > 1 ? std::atoi(argv[1]) : 1;
  const int count = kSize * kSize;
  const std::vector<float> a = numbers(count, 0), b = numbers(count, 1000003);
  float *A, *B, *C;
  cudaMalloc(&A, count * sizeof(float));
  cudaMalloc(&B, count * sizeof(float));
  cudaMalloc(&C, count * sizeof(float));
  cudaMemcpy(A, a.data(), count * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(B, b.data(), count * sizeof(float), cudaMemcpyHostToDevice);

  double best = INFINITY, best_cpu = 0;
  cudaError_t error = cudaSuccess;
  for (int run = 0; run < repetitions && error == cudaSuccess; ++run) {
    const std::clock_t cpu_start = std::clock();
    const auto start = std::chrono::steady_clock::now();
    matmul_kernel<<<dim3(kSize / kTile, kSize / kTile), dim3(kTile, kTile)>>>(A, B, C);
    error = cudaDeviceSynchronize();
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    if (time.count() >= best) continue;
    best = time.count();
    best_cpu = double(std::clock() - cpu_start) / CLOCKS_PER_SEC;
  }
  std::printf("kernel: %.6f s, %.6f s of CPU time, best of %d\n", best, best_cpu, repetitions);

  std::vector<float> c(count);
  cudaMemcpy(c.data(), C, count * sizeof(float), cudaMemcpyDeviceToHost);
  if (std::FILE* file = argc > 2 ? std::fopen(argv[2], "wb") : nullptr) {
    std::fwrite(c.data(), sizeof(float), count, file);
    std::fclose(file);
  }
  cudaFree(A);
  cudaFree(B);
  cudaFree(C);
  return error == cudaSuccess ? 0 : 1;
}
