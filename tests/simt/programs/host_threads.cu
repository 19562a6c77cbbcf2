// Threads of OpenMP on the host, each of which launches kernels and waits for them. Needs -Xcompiler -fopenmp
// of nvcc.

#include <omp.h>

#include <cstdio>
#include <vector>

__global__ void add(int* values, int addend, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i] += addend;
}

int main() {
  constexpr int kThreads = 4, kCount = 1000;
  std::vector<int> host(kThreads * kCount);
  int *values, team = 0, errors = 0;
  cudaMalloc(&values, host.size() * sizeof(int));
  cudaMemset(values, 0, host.size() * sizeof(int));
  omp_set_num_threads(kThreads);
#pragma omp parallel reduction(+ : errors)
  {
    const int thread = omp_get_thread_num();
    int* const own = values + thread * kCount;
    for (int round = 0; round < 10; ++round) add<<<(kCount + 127) / 128, 128>>>(own, thread + 1, kCount);
    errors +=
        cudaMemcpy(&host[thread * kCount], own, kCount * sizeof(int), cudaMemcpyDeviceToHost) != cudaSuccess;
#pragma omp single
    team = omp_get_num_threads();
  }
  for (int i = 0; i < kThreads * kCount; ++i) errors += host[i] != 10 * (i / kCount + 1);
  cudaFree(values);
  std::printf("%d threads, %d errors\n", team, errors);
  return team == kThreads && errors == 0 && cudaGetLastError() == cudaSuccess ? 0 : 1;
}
