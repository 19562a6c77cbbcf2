// A kernel carves tiles for K and V out of dynamic shared memory, and the launch asks for the size of one.
// The bytes of a launch must cover all arrays that the kernel carves out of them.
//
// expect: out_of_bounds at A
// expect: out_of_bounds at B
#include <cuda_runtime.h>

constexpr int kD = 32, kRows = 4;

// out (kRows, kD): the first query's weights of the keys, times their values
__global__ void weigh(const float* q, const float* K, const float* V, float* out) {
  extern __shared__ float smem[];
  float* K_tile = smem;               // (kRows, kD)
  float* V_tile = smem + kRows * kD;  // (kRows, kD)
  const int col = threadIdx.x, row = threadIdx.y;
  K_tile[row * kD + col] = K[row * kD + col];
  V_tile[row * kD + col] = V[row * kD + col];  // A
  __syncthreads();
  float score = 0.0f;
  for (int d = 0; d < kD; ++d) score += q[d] * K_tile[row * kD + d];
  out[row * kD + col] = expf(score) * V_tile[row * kD + col];  // B
}

int main() {
  const int bytes = kRows * kD * sizeof(float);
  float *q, *K, *V, *out;
  cudaMalloc(&q, kD * sizeof(float));
  cudaMalloc(&K, bytes);
  cudaMalloc(&V, bytes);
  cudaMalloc(&out, bytes);
  cudaMemset(q, 0, kD * sizeof(float));
  cudaMemset(K, 0, bytes);
  cudaMemset(V, 0, bytes);
  weigh<<<1, dim3(kD, kRows), bytes>>>(q, K, V, out);
  cudaDeviceSynchronize();
  cudaFree(q);
  cudaFree(K);
  cudaFree(V);
  cudaFree(out);
  return 0;
}
