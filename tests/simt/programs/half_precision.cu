// Half precision: saxpy on pairs, a dot product reduced across the warp in __half2, and bfloat16 sums.

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <vector>

__global__ void saxpy_half2(int n, half a, const half* x, half* y) {
  const int start = threadIdx.x + blockDim.x * blockIdx.x, stride = blockDim.x * gridDim.x;
  const half2 a2 = __half2half2(a);
  const half2* x2 = (const half2*)x;
  half2* y2 = (half2*)y;
  for (int i = start; i < n / 2; i += stride) y2[i] = __hfma2(a2, x2[i], y2[i]);
  if (start == 0 && n % 2) y[n - 1] = __hfma(a, x[n - 1], y[n - 1]);
}

__forceinline__ __device__ void reduceInShared(half2* const v) {
  int lid = threadIdx.x;
  for (int stride = blockDim.x / 2; stride > 0; stride >>= 1) {
    if (lid < stride) v[lid] = __hadd2(v[lid], v[lid + stride]);
    __syncthreads();
  }
}

__global__ void scalarProduct(const half2* a, const half2* b, float* results, size_t pairs) {
  const int stride = gridDim.x * blockDim.x;
  __shared__ half2 shArray[128];
  shArray[threadIdx.x] = __float2half2_rn(0.f);
  half2 value = __float2half2_rn(0.f);
  for (int i = threadIdx.x + blockDim.x * blockIdx.x; i < pairs; i += stride) value = a[i] * b[i] + value;
  shArray[threadIdx.x] = value;
  __syncthreads();
  reduceInShared(shArray);
  if (threadIdx.x == 0) results[blockIdx.x] = __low2float(shArray[0]) + __high2float(shArray[0]);
}

__global__ void bf16_mean(const __nv_bfloat162* x, __nv_bfloat16* mean, int pairs) {
  float sum = 0;
  for (int i = threadIdx.x; i < pairs; i += 32) {
    const float2 v = __bfloat1622float2(x[i]);
    sum += v.x + v.y;
  }
  for (int mask = 16; mask; mask >>= 1) sum += __shfl_xor_sync(~0u, sum, mask);
  if (threadIdx.x == 0) *mean = __float2bfloat16(sum / (2 * pairs));
}

template <typename T>
__global__ void clamp_kernel(T* x, int n, T low, T high) {
  const int i = threadIdx.x;
  if (i < n) x[i] = x[i] < low ? low : (x[i] > high ? high : x[i]);
}

int main() {
  const int n = 4001;
  std::vector<half> x(n), y(n), r(n);
  for (int i = 0; i < n; ++i) x[i] = __float2half((i % 64) * 0.25f), y[i] = __float2half((float)(i % 9));
  half *dx, *dy;
  cudaMalloc(&dx, n * sizeof(half));
  cudaMalloc(&dy, n * sizeof(half));
  cudaMemcpy(dx, x.data(), n * sizeof(half), cudaMemcpyHostToDevice);
  cudaMemcpy(dy, y.data(), n * sizeof(half), cudaMemcpyHostToDevice);
  saxpy_half2<<<4, 128>>>(n, __float2half(2.0f), dx, dy);
  cudaMemcpy(r.data(), dy, n * sizeof(half), cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += __half2float(r[i]) != 2.0f * __half2float(x[i]) + __half2float(y[i]);

  const int pairs = 1024, blocks = 4;
  std::vector<half2> a(pairs, __floats2half2_rn(1.0f, -0.5f)), b(pairs, __floats2half2_rn(0.5f, 1.0f));
  for (int i = 0; i < pairs; i += 2) b[i] = __floats2half2_rn(1.0f, 1.0f);
  half2 *da, *db;
  float *dr, part[blocks], dot = 0;
  cudaMalloc(&da, pairs * sizeof(half2));
  cudaMalloc(&db, pairs * sizeof(half2));
  cudaMalloc(&dr, blocks * sizeof(float));
  cudaMemcpy(da, a.data(), pairs * sizeof(half2), cudaMemcpyHostToDevice);
  cudaMemcpy(db, b.data(), pairs * sizeof(half2), cudaMemcpyHostToDevice);
  scalarProduct<<<blocks, 128>>>(da, db, dr, pairs);
  cudaMemcpy(part, dr, sizeof(part), cudaMemcpyDeviceToHost);
  for (float p : part) dot += p;
  wrong += dot != pairs / 2 * 0.5f;

  std::vector<__nv_bfloat16> z(512);
  for (int i = 0; i < 512; ++i) z[i] = __float2bfloat16((float)(i % 8));
  __nv_bfloat16 *dz, *dm, mean;
  cudaMalloc(&dz, 512 * sizeof(__nv_bfloat16));
  cudaMalloc(&dm, sizeof(__nv_bfloat16));
  cudaMemcpy(dz, z.data(), 512 * sizeof(__nv_bfloat16), cudaMemcpyHostToDevice);
  bf16_mean<<<1, 32>>>(reinterpret_cast<const __nv_bfloat162*>(dz), dm, 256);
  cudaMemcpy(&mean, dm, sizeof(mean), cudaMemcpyDeviceToHost);
  wrong += __bfloat162float(mean) != 3.5f;

  clamp_kernel<<<1, 512>>>(dz, 512, __float2bfloat16(2.0f), __float2bfloat16(5.0f));
  clamp_kernel<half><<<1, 512>>>(dx, 512, __float2half(1.0f), __float2half(3.0f));
  cudaMemcpy(z.data(), dz, 512 * sizeof(__nv_bfloat16), cudaMemcpyDeviceToHost);
  cudaMemcpy(r.data(), dx, 512 * sizeof(half), cudaMemcpyDeviceToHost);
  for (int i = 0; i < 512; ++i) {
    wrong += __bfloat162float(z[i]) != fminf(fmaxf(i % 8, 2), 5);
    wrong += __half2float(r[i]) != fminf(fmaxf(__half2float(x[i]), 1), 3);
  }
  cudaFree(dx), cudaFree(dy), cudaFree(da), cudaFree(db), cudaFree(dr), cudaFree(dz), cudaFree(dm);
  printf("%d wrong, %s\n", wrong, cudaGetErrorString(cudaGetLastError()));
  return wrong ? 1 : 0;
}
