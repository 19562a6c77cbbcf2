// The first warp fills the tile for the next round as soon as it has read its own part of it. The second warp
// may still read there; the barrier after the issue comes too late for that.
//
// expect: race at C, other side A
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

__global__ void blur(const float* in, float* out, int rounds) {
  __shared__ float tile[64];
  const int t = threadIdx.x;
  tile[t] = in[t];
  __syncthreads();
  float sum = 0.0f;
  for (int round = 1; round <= rounds; ++round) {
    sum += tile[t % 32] + tile[t % 32 + 32];  // A
    __syncwarp();
    if (t < 32)
      for (int half = 0; half < 64; half += 32)
        __pipeline_memcpy_async(&tile[half + t], &in[64 * round + half + t], sizeof(float));  // C
    __pipeline_commit();
    __syncthreads();
    __pipeline_wait_prior(0);
    __syncthreads();
  }
  out[t] = sum;
}

int main() {
  float *in, *out;
  cudaMalloc(&in, 64 * 4 * sizeof *in);
  cudaMalloc(&out, 64 * sizeof *out);
  cudaMemset(in, 0, 64 * 4 * sizeof *in);
  blur<<<1, 64>>>(in, out, 3);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
  return 0;
}
