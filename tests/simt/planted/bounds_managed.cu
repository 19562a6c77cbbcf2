// A kernel shifts an array in managed memory to the left and reads one element beyond its end. Managed
// memory ends where its allocation ends, on the device as on the host.
//
// expect: out_of_bounds at A, x[200]
#include <cuda_runtime.h>

__global__ void shift_left(const int* x, int* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i + 1];  // A
}

int main() {
  const int n = 200;
  int *x, *y;
  cudaMallocManaged(&x, n * sizeof(int));
  cudaMallocManaged(&y, n * sizeof(int));
  for (int i = 0; i < n; ++i) x[i] = i;
  shift_left<<<2, 128>>>(x, y, n);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return 0;
}
