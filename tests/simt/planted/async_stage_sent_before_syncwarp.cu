// Two stages of copies for one warp. A lane reads what its neighbour has sent for. In the next step the
// neighbour sends for the same stage again, before a __syncwarp() has said that the lane has read it. The
// wait comes after such a __syncwarp(), but the copy may write from the moment that it is sent for.
//
// expect: missing_syncwarp at A, other side B

#include <cuda_pipeline.h>

#include <cstdio>

constexpr int kSteps = 8;

__device__ void send(float4 (&stage)[32], const float4* from) {
  __pipeline_memcpy_async(&stage[threadIdx.x], from + threadIdx.x, sizeof(float4));  // A
}

__global__ void sum_of_neighbours(const float4* in, float* out) {
  __shared__ float4 stages[2][32];
  float sum = 0.0f;
  send(stages[0], in);
  __pipeline_commit();
  for (int step = 0; step < kSteps; ++step) {
    if (step + 1 < kSteps) send(stages[(step + 1) % 2], in + 32 * (step + 1));
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncwarp();
    sum += stages[step % 2][(threadIdx.x + 1) % 32].x;  // B
  }
  out[threadIdx.x] = sum;
}

int main() {
  float4* in;
  float* out;
  cudaMalloc(&in, kSteps * 32 * sizeof(float4));
  cudaMalloc(&out, 32 * sizeof(float));
  cudaMemset(in, 0, kSteps * 32 * sizeof(float4));
  sum_of_neighbours<<<1, 32>>>(in, out);
  cudaFree(in);
  cudaFree(out);
  std::puts("done");
}
