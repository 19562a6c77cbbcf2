// Sums with one kernel per block size: unrolled at compile time, dispatched by a switch at run time.

#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

// Dynamic shared memory whose type depends on the template: a pointer of the right type from one raw array.
template <class T>
struct SharedMemory {
  __device__ inline operator T*() {
    extern __shared__ int __smem[];
    return (T*)__smem;
  }
  __device__ inline operator const T*() const {
    extern __shared__ int __smem[];
    return (T*)__smem;
  }
};

template <class T>
__device__ __forceinline__ T warpReduceSum(unsigned int mask, T mySum) {
  for (int offset = warpSize / 2; offset > 0; offset /= 2) mySum += __shfl_down_sync(mask, mySum, offset);
  return mySum;
}

template <typename T, unsigned int blockSize, bool nIsPow2>
__global__ void reduce(const T* __restrict__ g_idata, T* __restrict__ g_odata, unsigned int n) {
  T* sdata = SharedMemory<T>();
  unsigned int tid = threadIdx.x;
  unsigned int gridSize = blockSize * gridDim.x;
  T mySum = 0;
  if (nIsPow2) {
    unsigned int i = blockIdx.x * blockSize * 2 + threadIdx.x;
    gridSize = gridSize << 1;
    while (i < n) {
      mySum += g_idata[i];
      if ((i + blockSize) < n) mySum += g_idata[i + blockSize];
      i += gridSize;
    }
  } else {
    for (unsigned int i = blockIdx.x * blockSize + threadIdx.x; i < n; i += gridSize) mySum += g_idata[i];
  }
  sdata[tid] = mySum;
  __syncthreads();

  if (blockSize >= 512 && tid < 256) sdata[tid] = mySum = mySum + sdata[tid + 256];
  __syncthreads();
  if (blockSize >= 256 && tid < 128) sdata[tid] = mySum = mySum + sdata[tid + 128];
  __syncthreads();
  if (blockSize >= 128 && tid < 64) sdata[tid] = mySum = mySum + sdata[tid + 64];
  __syncthreads();

  if (tid < 32) {
    if (blockSize >= 64) mySum += sdata[tid + 32];
    mySum = warpReduceSum<T>(0xffffffff, mySum);
  }
  if (tid == 0) g_odata[blockIdx.x] = mySum;
}

template <class T, bool pow2>
void dispatch(int threads, int blocks, const T* d_idata, T* d_odata, unsigned int n) {
  const size_t smemSize = threads * sizeof(T);
  switch (threads) {
    case 512:
      reduce<T, 512, pow2><<<blocks, threads, smemSize>>>(d_idata, d_odata, n);
      break;
    case 256:
      reduce<T, 256, pow2><<<blocks, threads, smemSize>>>(d_idata, d_odata, n);
      break;
    case 128:
      reduce<T, 128, pow2><<<blocks, threads, smemSize>>>(d_idata, d_odata, n);
      break;
    case 64:
      reduce<T, 64, pow2><<<blocks, threads, smemSize>>>(d_idata, d_odata, n);
      break;
  }
}

template <class T>
bool check(unsigned int n, int threads) {
  const int blocks = 16;
  std::vector<T> h_in(n), h_out(blocks);
  T expected = 0;
  for (unsigned int i = 0; i < n; ++i) expected += h_in[i] = (T)(i % 13) - (T)3;
  T *d_in, *d_out;
  cudaMalloc(&d_in, n * sizeof(T));
  cudaMalloc(&d_out, blocks * sizeof(T));
  cudaMemcpy(d_in, h_in.data(), n * sizeof(T), cudaMemcpyHostToDevice);
  if ((n & (n - 1)) == 0)
    dispatch<T, true>(threads, blocks, d_in, d_out, n);
  else
    dispatch<T, false>(threads, blocks, d_in, d_out, n);
  cudaMemcpy(h_out.data(), d_out, blocks * sizeof(T), cudaMemcpyDeviceToHost);
  T sum = 0;
  for (T part : h_out) sum += part;
  cudaFree(d_in);
  cudaFree(d_out);
  if (sum != expected) printf("n = %u, %d threads: wrong\n", n, threads);
  return sum == expected && cudaGetLastError() == cudaSuccess;
}

int main() {
  bool ok = true;
  for (int threads = 64; threads <= 512; threads *= 2) {
    ok &= check<int>(1 << 15, threads);
    ok &= check<int>(33333, threads);
    ok &= check<float>(1 << 14, threads);
    ok &= check<double>(10001, threads);
  }
  printf("%s\n", ok ? "Test passed" : "Test failed!");
  return ok ? 0 : 1;
}
