// Each thread stores its own number and reads its neighbour's at once. The kernel hands the shared memory on
// as an object, without a name for it; a __syncthreads() belongs between the write and the read.
//
// expect: race at A, other side B
#include <cuda_runtime.h>

template <int kThreads>
struct Buffers {
  float first[kThreads];
  float second[2][kThreads / 2];
};

template <int kThreads>
__device__ float difference(Buffers<kThreads>& buffers, float value) {
  const int t = threadIdx.x;
  buffers.first[t] = value;
  __syncthreads();
  value -= buffers.first[kThreads - 1 - t];
  buffers.second[t / (kThreads / 2)][t % (kThreads / 2)] = value;     // A
  return buffers.second[1 - t / (kThreads / 2)][t % (kThreads / 2)];  // B
}

template <int kThreads>
__global__ void differences(const float* x, float* y) {
  extern __shared__ float4 shared_memory[];
  y[threadIdx.x] = difference<kThreads>(*reinterpret_cast<Buffers<kThreads>*>(shared_memory), x[threadIdx.x]);
}

int main() {
  float *x, *y;
  cudaMalloc(&x, 128 * sizeof(float));
  cudaMalloc(&y, 128 * sizeof(float));
  cudaMemset(x, 0, 128 * sizeof(float));
  const auto kernel = differences<128>;
  kernel<<<1, 128, sizeof(Buffers<128>)>>>(x, y);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return 0;
}
