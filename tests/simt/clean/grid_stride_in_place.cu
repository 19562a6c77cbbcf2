// Looks wrong: few threads update a long array in place, and all blocks walk through the whole of it.
// It is right: an element belongs to the one thread whose stride meets it, which reads and writes nothing
// else.

#include <cuda_runtime.h>

__global__ void square_kernel(int* values, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    values[i] = values[i] * values[i];
}

int main() {
  constexpr int kN = 1013;
  int values[kN], *d_values;
  for (int i = 0; i < kN; ++i) values[i] = i - 500;
  cudaMalloc(&d_values, sizeof values);
  cudaMemcpy(d_values, values, sizeof values, cudaMemcpyHostToDevice);
  square_kernel<<<3, 96>>>(d_values, kN);
  cudaMemcpy(values, d_values, sizeof values, cudaMemcpyDeviceToHost);
  cudaFree(d_values);
  for (int i = 0; i < kN; ++i)
    if (values[i] != (i - 500) * (i - 500)) return 1;
  return 0;
}
