// Looks wrong: all blocks poll a flag that others write while they run.
// It is right: the flag is volatile, nothing else hangs on it, and whether it is seen soon or late the answer
// is the same.

#include <cuda_runtime.h>

__global__ void find_kernel(const int* in, int n, int wanted, volatile int* found, int* where) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    if (*found != 0) return;
    if (in[i] == wanted) {  // it occurs once
      *where = i;
      *found = 1;
    }
  }
}

int main() {
  constexpr int kN = 1000;
  int in[kN], where = -1, *d_in, *d_found, *d_where;
  for (int i = 0; i < kN; ++i) in[i] = i * 7 % kN;
  cudaMalloc(&d_in, sizeof in);
  cudaMalloc(&d_found, sizeof(int));
  cudaMalloc(&d_where, sizeof(int));
  cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
  cudaMemset(d_found, 0, sizeof(int));
  find_kernel<<<4, 32>>>(d_in, kN, 901, d_found, d_where);
  cudaMemcpy(&where, d_where, sizeof where, cudaMemcpyDeviceToHost);
  cudaFree(d_in);
  cudaFree(d_found);
  cudaFree(d_where);
  return where >= 0 && where < kN && in[where] == 901 ? 0 : 1;
}
