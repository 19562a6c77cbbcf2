// `live` shares a word with `kind` and is never written; the two bytes behind it are padding.
// expect: uninitialised_read at A

#include <cstdio>

struct Cell {
  char kind;
  bool live;
  float level;
};

__global__ void count(int* live) {
  __shared__ Cell cells[64], copies[64];
  const unsigned i = threadIdx.x;
  cells[i].kind = 'c';
  cells[i].level = 1.0f;
  __syncthreads();
  copies[i] = cells[63 - i];  // A
  if (copies[i].live) atomicAdd(live, 1);
}

int main() {
  int *live, count_of_live = 0;
  cudaMalloc(&live, sizeof(int));
  cudaMemset(live, 0, sizeof(int));
  count<<<1, 64>>>(live);
  cudaMemcpy(&count_of_live, live, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", count_of_live);
  cudaFree(live);
}
