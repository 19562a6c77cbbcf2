// Every integer atomic once per thread, and two that programs build themselves from atomicCAS.

#include <cuda_runtime.h>

#include <cstdio>

__device__ double atomicAddDouble(double* address, double val) {
  unsigned long long int* address_as_ull = (unsigned long long int*)address;
  unsigned long long int old = *address_as_ull, assumed;
  do {
    assumed = old;
    old = atomicCAS(address_as_ull, assumed, __double_as_longlong(val + __longlong_as_double(assumed)));
  } while (assumed != old);
  return __longlong_as_double(old);
}

__device__ static float atomicMaxFloat(float* address, float val) {
  int* address_as_i = (int*)address;
  int old = *address_as_i, assumed;
  do {
    assumed = old;
    old = ::atomicCAS(address_as_i, assumed, __float_as_int(::fmaxf(val, __int_as_float(assumed))));
  } while (assumed != old);
  return __int_as_float(old);
}

__global__ void testKernel(int* g_odata, double* g_double, float* g_float, unsigned int* lock, int* guarded) {
  const unsigned int tid = blockDim.x * blockIdx.x + threadIdx.x;
  atomicAdd(&g_odata[0], 10);
  atomicSub(&g_odata[1], 10);
  atomicExch(&g_odata[2], tid);
  atomicMax(&g_odata[3], tid);
  atomicMin(&g_odata[4], tid);
  atomicInc((unsigned int*)&g_odata[5], 17);
  atomicDec((unsigned int*)&g_odata[6], 137);
  atomicCAS(&g_odata[7], tid - 1, tid);
  atomicAnd(&g_odata[8], 2 * tid + 7);
  atomicOr(&g_odata[9], 1 << (tid % 31));
  atomicXor(&g_odata[10], tid);
  atomicAddDouble(g_double, 0.5);
  atomicAdd(g_double + 1, 0.25);
  atomicMaxFloat(g_float, (float)tid);

  // A spin lock of one thread per block.
  if (threadIdx.x == 0) {
    while (atomicCAS(lock, 0u, 1u) != 0u) {
    }
    __threadfence();
    *guarded += 1;
    __threadfence();
    atomicExch(lock, 0u);
  }
}

int main() {
  const int threads = 256, blocks = 16, len = threads * blocks;
  int init[11] = {0, 0, 0, -(1 << 30), 1 << 30, 0, 0, 0, 0xff, 0, 0}, result[11];
  int *d_data, *d_guarded;
  double *d_double, sums[2];
  float *d_float, biggest;
  unsigned int* d_lock;
  int guarded;
  cudaMalloc(&d_data, sizeof(init));
  cudaMalloc(&d_double, 2 * sizeof(double));
  cudaMalloc(&d_float, sizeof(float));
  cudaMalloc(&d_lock, sizeof(unsigned int));
  cudaMalloc(&d_guarded, sizeof(int));
  cudaMemcpy(d_data, init, sizeof(init), cudaMemcpyHostToDevice);
  cudaMemset(d_double, 0, 2 * sizeof(double));
  cudaMemset(d_float, 0, sizeof(float));
  cudaMemset(d_lock, 0, sizeof(unsigned int));
  cudaMemset(d_guarded, 0, sizeof(int));
  testKernel<<<blocks, threads>>>(d_data, d_double, d_float, d_lock, d_guarded);
  cudaMemcpy(result, d_data, sizeof(result), cudaMemcpyDeviceToHost);
  cudaMemcpy(sums, d_double, sizeof(sums), cudaMemcpyDeviceToHost);
  cudaMemcpy(&biggest, d_float, sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(&guarded, d_guarded, sizeof(int), cudaMemcpyDeviceToHost);

  unsigned int up = 0, down = 0;
  int all_and = 0xff, all_xor = 0;
  for (int i = 0; i < len; ++i) {
    up = up >= 17 ? 0 : up + 1;
    down = down == 0 || down > 137 ? 137 : down - 1;
    all_and &= 2 * i + 7;
    all_xor ^= i;
  }
  const bool ok = result[0] == 10 * len && result[1] == -10 * len && result[2] >= 0 && result[2] < len &&
                  result[3] == len - 1 && result[4] == 0 && result[5] == (int)up && result[6] == (int)down &&
                  result[7] >= 0 && result[7] < len && result[8] == all_and && result[9] == 0x7fffffff &&
                  result[10] == all_xor && sums[0] == 0.5 * len && sums[1] == 0.25 * len &&
                  biggest == len - 1.0f && guarded == blocks;
  printf("%s: %s\n", ok ? "OK" : "ERROR", cudaGetErrorString(cudaGetLastError()));
  return ok ? 0 : 1;
}
