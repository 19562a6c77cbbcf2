// The result is copied with the direction of the way there, and the error that cudaMemcpy() returns is
// thrown away. cudaMemcpyDeviceToHost brings results back; every call of the runtime returns a status to be
// checked.
//
// expect: unchecked_error at A
#include <cuda_runtime.h>

__global__ void iota(int* x) { x[threadIdx.x] = threadIdx.x; }

int main() {
  int values[32] = {}, *x;
  cudaMalloc(&x, sizeof values);
  iota<<<1, 32>>>(x);
  cudaMemcpy(values, x, sizeof values, cudaMemcpyHostToDevice);  // A
  cudaFree(x);
  return 0;
}
