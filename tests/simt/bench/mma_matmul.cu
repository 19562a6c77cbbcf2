// C = A B with bfloat16 factors of 256 x 256 on tensor cores, and how long the kernel takes: in run mode by
// `./course simulate tests/simt/bench/mma_matmul.cu`, in check mode with --check.

#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <vector>

constexpr int kSize = 256, kTile = 64, kStep = 16, kWarps = 4, kPadded = kStep + 8;

/// A block computes a tile of 64 x 64, each warp 16 rows of it. A is row-major, B column-major.
__global__ void mma_kernel(const __nv_bfloat16* A, const __nv_bfloat16* B, float* C) {
  __shared__ alignas(16) __nv_bfloat16 A_smem[kTile][kPadded], B_smem[kTile][kPadded];
  const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
  const int first_row = blockIdx.y * kTile, first_col = blockIdx.x * kTile;
  float sums[kTile / 8][4] = {};
  for (int k = 0; k < kSize; k += kStep) {
    const int row = thread / 2, half = thread % 2 * 8;
    *reinterpret_cast<uint4*>(&A_smem[row][half]) =
        *reinterpret_cast<const uint4*>(&A[(first_row + row) * kSize + k + half]);
    *reinterpret_cast<uint4*>(&B_smem[row][half]) =
        *reinterpret_cast<const uint4*>(&B[(first_col + row) * kSize + k + half]);
    __syncthreads();
    unsigned a[4];
    const auto a_row =
        static_cast<unsigned>(__cvta_generic_to_shared(&A_smem[16 * warp + lane % 16][lane / 16 * 8]));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
                 : "r"(a_row));
    for (int n = 0; n < kTile / 8; ++n) {
      unsigned b[2];
      const auto b_row =
          static_cast<unsigned>(__cvta_generic_to_shared(&B_smem[8 * n + lane % 8][lane / 8 % 2 * 8]));
      asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                   : "=r"(b[0]), "=r"(b[1])
                   : "r"(b_row));
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
          "{%8, %9}, {%0, %1, %2, %3};"
          : "+f"(sums[n][0]), "+f"(sums[n][1]), "+f"(sums[n][2]), "+f"(sums[n][3])
          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    }
    __syncthreads();
  }
  for (int n = 0; n < kTile / 8; ++n) {
    const int row = first_row + 16 * warp + lane / 4, col = first_col + 8 * n + lane % 4 * 2;
    for (int i = 0; i < 4; ++i) C[(row + i / 2 * 8) * kSize + col + i % 2] = sums[n][i];
  }
}

int main() {
  constexpr int kCount = kSize * kSize, kRuns = 20;
  std::vector<__nv_bfloat16> a(kCount), b(kCount);
  for (int i = 0; i < kCount; ++i) {
    a[i] = __float2bfloat16(static_cast<float>(i * 7 % 31 - 15) / 16.0f);
    b[i] = __float2bfloat16(static_cast<float>(i * 11 % 29 - 14) / 16.0f);
  }
  __nv_bfloat16 *A, *B;
  float* C;
  cudaMalloc(&A, kCount * sizeof *A);
  cudaMalloc(&B, kCount * sizeof *B);
  cudaMalloc(&C, kCount * sizeof *C);
  cudaMemcpy(A, a.data(), kCount * sizeof *A, cudaMemcpyHostToDevice);
  cudaMemcpy(B, b.data(), kCount * sizeof *B, cudaMemcpyHostToDevice);
  double best = INFINITY, best_cpu = INFINITY;
  for (int run = 0; run < kRuns; ++run) {
    const std::clock_t cpu_start = std::clock();
    const auto start = std::chrono::steady_clock::now();
    mma_kernel<<<dim3(kSize / kTile, kSize / kTile), 32 * kWarps>>>(A, B, C);
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    best = std::min(best, time.count());
    best_cpu = std::min(best_cpu, static_cast<double>(std::clock() - cpu_start) / CLOCKS_PER_SEC);
  }
  std::vector<float> c(kCount);
  cudaMemcpy(c.data(), C, kCount * sizeof *C, cudaMemcpyDeviceToHost);
  double largest = 0;
  for (int row = 0; row < kSize; row += 37)
    for (int col = 0; col < kSize; ++col) {
      double sum = 0;
      for (int k = 0; k < kSize; ++k)
        sum += static_cast<double>(__bfloat162float(a[row * kSize + k])) *
               static_cast<double>(__bfloat162float(b[col * kSize + k]));
      largest = std::max(largest, std::abs(sum - static_cast<double>(c[row * kSize + col])));
    }
  cudaFree(A);
  cudaFree(B);
  cudaFree(C);
  std::printf("kernel: %.6f s, %.6f s of processor time, each the best of %d; largest error %.1e\n", best,
              best_cpu, kRuns, largest);
  return largest < 1e-3 ? 0 : 1;
}
