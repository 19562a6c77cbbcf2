// Lane 0 of each warp fetches a descriptor for all its lanes, which use it without __syncwarp(). A lane sees
// what another lane of its warp wrote only after a __syncwarp() that names both.
//
// expect: missing_syncwarp at A, other side B
#include <cuda_runtime.h>

struct Segment {
  int first, count;
};

__global__ void sum_segments(const Segment* segments, const float* x, float* sums) {
  __shared__ Segment current[4];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (lane == 0) current[warp] = segments[warp];  // A
  const Segment segment = current[warp];          // B
  float sum = 0.0f;
  for (int i = lane; i < segment.count; i += 32) sum += x[segment.first + i];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffff, sum, offset);
  if (lane == 0) sums[warp] = sum;
}

int main() {
  const Segment host[4] = {{0, 40}, {40, 7}, {47, 33}, {80, 20}};
  Segment* segments;
  float *x, *sums;
  cudaMalloc(&segments, sizeof host);
  cudaMalloc(&x, 100 * sizeof(float));
  cudaMalloc(&sums, 4 * sizeof(float));
  cudaMemcpy(segments, host, sizeof host, cudaMemcpyHostToDevice);
  cudaMemset(x, 0, 100 * sizeof(float));
  sum_segments<<<1, 128>>>(segments, x, sums);
  cudaDeviceSynchronize();
  cudaFree(segments);
  cudaFree(x);
  cudaFree(sums);
  return 0;
}
