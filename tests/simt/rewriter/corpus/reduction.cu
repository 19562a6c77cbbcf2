// In the way of sample programs: a struct that works around extern arrays of template type, and a switch over block sizes.
#include <cuda_runtime.h>

template <class T>
struct SharedMemory {
  __device__ inline operator T *() {
    extern __shared__ int __smem[];
    return (T *)__smem;
  }

  __device__ inline operator const T *() const {
    extern __shared__ int __smem[];
    return (T *)__smem;
  }
};

// Doubles have a name of their own, since one extern array cannot have two alignments.
template <>
struct SharedMemory<double> {
  __device__ inline operator double *() {
    extern __shared__ double __smem_d[];
    return (double *)__smem_d;
  }
};

template <class T, unsigned int blockSize, bool nIsPow2>
__global__ void reduce(T *g_idata, T *g_odata, unsigned int n) {
  T *sdata = SharedMemory<T>();
  unsigned int tid = threadIdx.x;
  unsigned int i = blockIdx.x * blockSize * 2 + threadIdx.x;
  unsigned int gridSize = blockSize * 2 * gridDim.x;
  T mySum = 0;
  while (i < n) {
    mySum += g_idata[i];
    if (nIsPow2 || i + blockSize < n) mySum += g_idata[i + blockSize];
    i += gridSize;
  }
  sdata[tid] = mySum;
  __syncthreads();
  for (unsigned int s = blockSize >> 1; s > 0; s >>= 1) {
    if (tid < s) sdata[tid] = mySum = mySum + sdata[tid + s];
    __syncthreads();
  }
  if (tid == 0) g_odata[blockIdx.x] = mySum;
}

template <class T>
void launch_reduce(int size, int threads, int blocks, T *d_idata, T *d_odata, bool pow2) {
  dim3 dimBlock(threads, 1, 1);
  dim3 dimGrid(blocks, 1, 1);
  int smemSize = (threads <= 32) ? 2 * threads * sizeof(T) : threads * sizeof(T);
  if (pow2) {
    switch (threads) {
      case 512:
        reduce<T, 512, true><<<dimGrid, dimBlock, smemSize>>>(d_idata, d_odata, size);
        break;
      case 256: reduce<T, 256, true> <<< dimGrid, dimBlock, smemSize >>> (d_idata, d_odata, size); break;
    }
  } else
    reduce<T, 256, (256 > 128)><<<dimGrid, dimBlock, smemSize>>>(d_idata, d_odata, size);
}

template void launch_reduce<float>(int, int, int, float *, float *, bool);
template void launch_reduce<double>(int, int, int, double *, double *, bool);
