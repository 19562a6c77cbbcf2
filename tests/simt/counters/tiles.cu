// Kernels as lessons write them: transposes, matrix products with tiles in shared memory and in registers, a
// stencil with a halo, copies that bypass the registers.

#include <cuda_pipeline_primitives.h>

#include "harness.cuh"

constexpr int kRows = 64, kCols = 96;

/// x: (64, 96), y: (96, 64), blocks of 32x8 threads for tiles of 32x32.
__global__ void transpose_naive_kernel(const float* x, float* y) {
  const int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
#pragma unroll 1
  for (int k = 0; k < 32; k += 8) y[col * kRows + row + k] = x[(row + k) * kCols + col];
}

template <int kPadding>
__global__ void transpose_kernel(const float* x, float* y) {
  __shared__ float tile[32][32 + kPadding];
  const int col = blockIdx.x * 32, row = blockIdx.y * 32;  // of the tile
#pragma unroll 1
  for (int k = threadIdx.y; k < 32; k += 8) tile[k][threadIdx.x] = x[(row + k) * kCols + col + threadIdx.x];
  __syncthreads();
#pragma unroll 1
  for (int k = threadIdx.y; k < 32; k += 8) y[(col + k) * kRows + row + threadIdx.x] = tile[threadIdx.x][k];
}

/// The column index is XORed with the row instead of padding.
__global__ void transpose_swizzled_kernel(const float* x, float* y) {
  __shared__ float tile[32][32];
  const int col = blockIdx.x * 32, row = blockIdx.y * 32;
#pragma unroll 1
  for (int k = threadIdx.y; k < 32; k += 8)
    tile[k][threadIdx.x ^ k] = x[(row + k) * kCols + col + threadIdx.x];
  __syncthreads();
#pragma unroll 1
  for (int k = threadIdx.y; k < 32; k += 8)
    y[(col + k) * kRows + row + threadIdx.x] = tile[threadIdx.x][k ^ threadIdx.x];
}

constexpr int kN = 64;

/// C = A B, all (64, 64), without shared memory; blocks of 16x16.
__global__ void matmul_naive_kernel(const float* A, const float* B, float* C) {
  const int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < kN; ++k) sum += A[row * kN + k] * B[k * kN + col];
  C[row * kN + col] = sum;
}

template <int kTile>
__global__ void matmul_tiled_kernel(const float* A, const float* B, float* C) {
  __shared__ float A_smem[kTile][kTile], B_smem[kTile][kTile];
  const int row = blockIdx.y * kTile + threadIdx.y, col = blockIdx.x * kTile + threadIdx.x;
  float sum = 0;
#pragma unroll 1
  for (int first = 0; first < kN; first += kTile) {
    A_smem[threadIdx.y][threadIdx.x] = A[row * kN + first + threadIdx.x];
    B_smem[threadIdx.y][threadIdx.x] = B[(first + threadIdx.y) * kN + col];
    __syncthreads();
#pragma unroll 1
    for (int k = 0; k < kTile; ++k) sum += A_smem[threadIdx.y][k] * B_smem[k][threadIdx.x];
    __syncthreads();
  }
  C[row * kN + col] = sum;
}

__device__ __forceinline__ float4 multiply_add(float a, float4 b, float4 c) {
  return make_float4(a * b.x + c.x, a * b.y + c.y, a * b.z + c.z, a * b.w + c.w);
}

/// One block of 16x16 threads, four rows and four columns each; A_smem is A's tile, transposed.
__global__ void matmul_registers_kernel(const float* A, const float* B, float* C) {
  __shared__ float A_smem[8][kN], B_smem[8][kN];
  const int row = threadIdx.y * 4, col = threadIdx.x * 4;
  const int thread = threadIdx.y * 16 + threadIdx.x;
  const float4 zero = make_float4(0, 0, 0, 0);
  float4 C0 = zero, C1 = zero, C2 = zero, C3 = zero;
#pragma unroll 1
  for (int first = 0; first < kN; first += 8) {
#pragma unroll 1
    for (int at = thread; at < 8 * kN; at += 256) {
      A_smem[at % 8][at / 8] = A[at / 8 * kN + first + at % 8];
      B_smem[at / kN][at % kN] = B[(first + at / kN) * kN + at % kN];
    }
    __syncthreads();
#pragma unroll 1
    for (int k = 0; k < 8; ++k) {
      const float4 a = *reinterpret_cast<const float4*>(&A_smem[k][row]);
      const float4 b = *reinterpret_cast<const float4*>(&B_smem[k][col]);
      C0 = multiply_add(a.x, b, C0);
      C1 = multiply_add(a.y, b, C1);
      C2 = multiply_add(a.z, b, C2);
      C3 = multiply_add(a.w, b, C3);
    }
    __syncthreads();
  }
  float4* out = reinterpret_cast<float4*>(C) + (row * kN + col) / 4;
  out[0] = C0;
  out[kN / 4] = C1;
  out[2 * kN / 4] = C2;
  out[3 * kN / 4] = C3;
}

constexpr int kReach = 3, kLength = 500;

/// y[i] = x[i - 3] + ... + x[i + 3], zero outside; blocks of 128.
__global__ void stencil_kernel(const float* x, float* y) {
  __shared__ float tile[128 + 2 * kReach];
  const int thread = threadIdx.x, i = blockIdx.x * 128 + thread;
#pragma unroll 1
  for (int k = thread; k < 128 + 2 * kReach; k += 128) {
    const int from = blockIdx.x * 128 + k - kReach;
    float value = 0;
    if (from >= 0 && from < kLength) value = x[from];
    tile[k] = value;
  }
  __syncthreads();
  if (i >= kLength) return;
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k <= 2 * kReach; ++k) sum += tile[thread + k];
  y[i] = sum;
}

/// One warp copies x through shared memory and reads it back mirrored.
template <class T>
__global__ void async_copy_kernel(const T* x, T* y) {
  __shared__ T tile[32];
  const int lane = threadIdx.x;
  __pipeline_memcpy_async(&tile[lane], &x[lane], sizeof(T));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  y[lane] = tile[31 - lane];
}

void test_transposes() {
  const std::vector<float> values = scrambled<float>(kRows * kCols);
  Array<float> x(values), naive(kRows * kCols), plain(kRows * kCols), padded(kRows * kCols),
      swizzled(kRows * kCols);
  const dim3 grid(kCols / 32, kRows / 32), block(32, 8);
  const auto source = [](int i) { return i % kRows * kCols + i / kRows; };
  transpose_naive_kernel<<<grid, block>>>(x.data(), naive.data());
  expect_copy("transpose_naive_kernel", naive, values, source);
  transpose_kernel<0><<<grid, block>>>(x.data(), plain.data());
  expect_copy("transpose_kernel<0>", plain, values, source);
  transpose_kernel<1><<<grid, block>>>(x.data(), padded.data());
  expect_copy("transpose_kernel<1>", padded, values, source);
  transpose_swizzled_kernel<<<grid, block>>>(x.data(), swizzled.data());
  expect_copy("transpose_swizzled_kernel", swizzled, values, source);
}

void test_products() {
  const std::vector<float> numbers = small_numbers(kN * kN);
  const std::vector<float> mirrored(numbers.rbegin(), numbers.rend());
  Array<float> A(numbers), B(mirrored), naive(kN * kN), tiled16(kN * kN), tiled32(kN * kN),
      registers(kN * kN);
  const auto expected = [&](int i) {
    float sum = 0;
    for (int k = 0; k < kN; ++k) sum += numbers[i / kN * kN + k] * mirrored[k * kN + i % kN];
    return sum;
  };
  matmul_naive_kernel<<<dim3(4, 4), dim3(16, 16)>>>(A.data(), B.data(), naive.data());
  expect("matmul_naive_kernel", naive, expected);
  matmul_tiled_kernel<16><<<dim3(4, 4), dim3(16, 16)>>>(A.data(), B.data(), tiled16.data());
  expect("matmul_tiled_kernel<16>", tiled16, expected);
  matmul_tiled_kernel<32><<<dim3(2, 2), dim3(32, 32)>>>(A.data(), B.data(), tiled32.data());
  expect("matmul_tiled_kernel<32>", tiled32, expected);
  matmul_registers_kernel<<<1, dim3(16, 16)>>>(A.data(), B.data(), registers.data());
  expect("matmul_registers_kernel", registers, expected);
}

template <class T>
void test_async_copy() {
  const std::vector<T> values = scrambled<T>(32);
  Array<T> x(values), y(32);
  async_copy_kernel<T><<<1, 32>>>(x.data(), y.data());
  expect_copy("async_copy_kernel", y, values, [](int i) { return 31 - i; });
}

void test_stencil() {
  const std::vector<float> values = small_numbers(kLength);
  Array<float> x(values), y(kLength);
  stencil_kernel<<<(kLength + 127) / 128, 128>>>(x.data(), y.data());
  expect("stencil_kernel", y, [&](int i) {
    float sum = 0;
    for (int k = i - kReach; k <= i + kReach; ++k) sum += k >= 0 && k < kLength ? values[k] : 0;
    return sum;
  });
}

int main() {
  test_transposes();
  test_products();
  test_stencil();
  test_async_copy<float>(), test_async_copy<float2>(), test_async_copy<float4>();
  return finish("tiles");
}
