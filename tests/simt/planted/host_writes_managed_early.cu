// The host fills the input of the next launch while the first may still read it.
// expect: race at B, other side A, x[0]

__global__ void accumulate(const int* x, int* total) { atomicAdd(total, x[threadIdx.x]); }  // A

int main() {
  int *x, *total;
  cudaMallocManaged(&x, 32 * sizeof(int));
  cudaMallocManaged(&total, sizeof(int));
  for (int i = 0; i < 32; ++i) x[i] = i;
  *total = 0;
  accumulate<<<1, 32>>>(x, total);
  for (int i = 0; i < 32; ++i) x[i] = 2 * i;  // B
  accumulate<<<1, 32>>>(x, total);
  cudaDeviceSynchronize();
  cudaFree(x), cudaFree(total);
}
