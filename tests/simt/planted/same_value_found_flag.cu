// Every thread that meets the key stores 1 in the same flag. Unordered writes of one and the same value
// leave that value, so this is worth a note; atomicExch() says it plainly.
//
// expect: same_value_write at A, other side A, found[0]
#include <cuda_runtime.h>

__global__ void search(const int* x, int n, int key, int* found) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] == key) *found = 1;  // A
}

int main() {
  const int n = 1000;
  int values[n], *x, *found;
  for (int i = 0; i < n; ++i) values[i] = i % 100;
  cudaMalloc(&x, sizeof values);
  cudaMalloc(&found, sizeof(int));
  cudaMemcpy(x, values, sizeof values, cudaMemcpyHostToDevice);
  cudaMemset(found, 0, sizeof(int));
  search<<<4, 256>>>(x, n, 42, found);
  cudaMemcpy(values, found, sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(found);
  return 0;
}
