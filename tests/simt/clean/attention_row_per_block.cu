// Looks wrong: the scores of a row live in one shared array that is read, overwritten and read again by other
// threads. It is right: each change of owner (score, maximum, weight, sum over keys) has a barrier of its
// own.

#include <cuda_runtime.h>

#include <cmath>

constexpr int kKeys = 40, kD = 16, kThreads = 64;

__global__ void attention_kernel(const float* Q, const float* K, const float* V, float* O) {
  __shared__ float S_smem[kKeys], largest_smem, sum_smem;
  const int thread = threadIdx.x, query = blockIdx.x;
  if (thread < kKeys) {
    float score = 0.0f;
    for (int d = 0; d < kD; ++d) score += Q[query * kD + d] * K[thread * kD + d];
    S_smem[thread] = score * 0.25f;
  }
  __syncthreads();  // the scores are complete
  if (thread == 0) {
    largest_smem = S_smem[0];
    for (int key = 1; key < kKeys; ++key) largest_smem = fmaxf(largest_smem, S_smem[key]);
  }
  __syncthreads();  // so is their maximum, and thread 0 has read the scores
  if (thread < kKeys) S_smem[thread] = expf(S_smem[thread] - largest_smem);
  __syncthreads();  // the weights are complete
  if (thread == 0) {
    sum_smem = 0.0f;
    for (int key = 0; key < kKeys; ++key) sum_smem += S_smem[key];
  }
  float out = 0.0f;
  if (thread < kD)
    for (int key = 0; key < kKeys; ++key) out += S_smem[key] * V[key * kD + thread];
  __syncthreads();  // the sum is complete
  if (thread < kD) O[query * kD + thread] = out / sum_smem;
}

int main() {
  constexpr int kQueries = 3;
  float Q[kQueries * kD], K[kKeys * kD], V[kKeys * kD], O[kQueries * kD] = {}, *d_Q, *d_K, *d_V, *d_O;
  for (int i = 0; i < kQueries * kD; ++i) Q[i] = std::sin(i * 0.7f);
  for (int i = 0; i < kKeys * kD; ++i) {
    K[i] = std::cos(i * 1.3f);
    V[i] = std::sin(i * 0.3f);
  }
  cudaMalloc(&d_Q, sizeof Q);
  cudaMalloc(&d_K, sizeof K);
  cudaMalloc(&d_V, sizeof V);
  cudaMalloc(&d_O, sizeof O);
  cudaMemcpy(d_Q, Q, sizeof Q, cudaMemcpyHostToDevice);
  cudaMemcpy(d_K, K, sizeof K, cudaMemcpyHostToDevice);
  cudaMemcpy(d_V, V, sizeof V, cudaMemcpyHostToDevice);
  attention_kernel<<<kQueries, kThreads>>>(d_Q, d_K, d_V, d_O);
  cudaMemcpy(O, d_O, sizeof O, cudaMemcpyDeviceToHost);
  cudaFree(d_Q);
  cudaFree(d_K);
  cudaFree(d_V);
  cudaFree(d_O);
  for (int query = 0; query < kQueries; ++query) {
    double sum = 0.0, row[kD] = {};
    for (int key = 0; key < kKeys; ++key) {
      double score = 0.0;
      for (int d = 0; d < kD; ++d) score += double(Q[query * kD + d]) * K[key * kD + d];
      const double weight = std::exp(score * 0.25);
      sum += weight;
      for (int d = 0; d < kD; ++d) row[d] += weight * V[key * kD + d];
    }
    for (int d = 0; d < kD; ++d)
      if (!(std::fabs(O[query * kD + d] - row[d] / sum) < 1e-5)) return 1;
  }
  return 0;
}
