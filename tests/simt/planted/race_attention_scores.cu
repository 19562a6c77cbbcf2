// Each warp computes the score of one key, and all threads sum up the scores after a __syncwarp(). The
// scores come from four warps, and only __syncthreads() waits for all of them.
//
// expect: race at A, other side B
#include <cuda_runtime.h>

constexpr int kD = 32, kKeys = 4;

// One query for each block: Q, O (Nq, kD); K, V (kKeys, kD)
__global__ void attend(const float* Q, const float* K, const float* V, float* O) {
  __shared__ float scores[kKeys];
  const int lane = threadIdx.x, warp = threadIdx.y;
  float dot = Q[blockIdx.x * kD + lane] * K[warp * kD + lane];
  for (int offset = 16; offset > 0; offset /= 2) dot += __shfl_xor_sync(0xffffffff, dot, offset);
  if (lane == 0) scores[warp] = expf(dot * rsqrtf(kD));  // A
  __syncwarp();
  if (warp == 0) {
    float sum = 0.0f, o = 0.0f;
    for (int key = 0; key < kKeys; ++key) {
      const float p = scores[key];  // B
      sum += p;
      o += p * V[key * kD + lane];
    }
    O[blockIdx.x * kD + lane] = o / sum;
  }
}

int main() {
  float *Q, *K, *V, *O;
  cudaMalloc(&Q, 2 * kD * sizeof(float));
  cudaMalloc(&K, kKeys * kD * sizeof(float));
  cudaMalloc(&V, kKeys * kD * sizeof(float));
  cudaMalloc(&O, 2 * kD * sizeof(float));
  cudaMemset(Q, 0, 2 * kD * sizeof(float));
  cudaMemset(K, 0, kKeys * kD * sizeof(float));
  cudaMemset(V, 0, kKeys * kD * sizeof(float));
  attend<<<2, dim3(kD, kKeys)>>>(Q, K, V, O);
  cudaDeviceSynchronize();
  cudaFree(Q);
  cudaFree(K);
  cudaFree(V);
  cudaFree(O);
  return 0;
}
