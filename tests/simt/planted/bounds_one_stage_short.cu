// The array is one stage too short for its pipeline. The stage goes on by reference, and behind the array
// lies shared memory of other instantiations and other kernels.
//
// expect: out_of_bounds at A

#include <cstdio>

constexpr int kThreads = 64;

__device__ void put(float (&stage)[kThreads], float value) { stage[threadIdx.x] = value; }  // A

template <int kStages>
__global__ void sum_of_stages(const float* in, float* out, int steps) {
  __shared__ float stage_smem[kStages - 1][kThreads];
  float sum = 0.0f;
  for (int step = 0; step < steps; ++step) {
    put(stage_smem[step % kStages], in[threadIdx.x]);
    __syncthreads();
    sum += stage_smem[0][kThreads - 1 - threadIdx.x];
    __syncthreads();
  }
  out[threadIdx.x] = sum;
}

__device__ float neighbour(float value) {
  __shared__ float values[2 * kThreads];
  values[threadIdx.x] = value;
  __syncthreads();
  return values[(threadIdx.x + 1) % kThreads];
}

__global__ void shift(float* x) {
  __shared__ float unused[4 * kThreads];
  unused[threadIdx.x] = x[threadIdx.x];
  x[threadIdx.x] = neighbour(unused[threadIdx.x]);
}

int main() {
  float *in, *out, first;
  cudaMalloc(&in, kThreads * sizeof(float));
  cudaMalloc(&out, kThreads * sizeof(float));
  cudaMemset(in, 0, kThreads * sizeof(float));
  sum_of_stages<2><<<1, kThreads>>>(in, out, 2);
  sum_of_stages<3><<<1, kThreads>>>(in, out, 3);
  sum_of_stages<4><<<1, kThreads>>>(in, out, 4);
  shift<<<1, kThreads>>>(out);
  cudaMemcpy(&first, out, sizeof first, cudaMemcpyDeviceToHost);
  std::printf("%g\n", first);
  cudaFree(in);
  cudaFree(out);
}
