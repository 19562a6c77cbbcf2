// Records which thread of which block adds which element, and in which step of its loop, for the figure of
// lesson 01. Prints CSV: blocks,threads,element,block,thread,step. scripts/figure_vector_add.py draws it.

#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

#include "device/cuda_check.hpp"

namespace {

struct Visit {
  int block = -1, thread = -1, step = -1;
};

__global__ void record_visits_kernel(Visit* visits, int n) {
  int step = 0;
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < n;
       i += static_cast<int>(gridDim.x * blockDim.x)) {
    visits[i] = {static_cast<int>(blockIdx.x), static_cast<int>(threadIdx.x), step++};
  }
}

void print_visits(int n, int blocks, int threads) {
  std::vector<Visit> visits(static_cast<std::size_t>(n));
  const std::size_t bytes = visits.size() * sizeof(Visit);
  Visit* visits_device = nullptr;
  CUDA_CHECK(cudaMalloc(&visits_device, bytes));
  CUDA_CHECK(cudaMemcpy(visits_device, visits.data(), bytes, cudaMemcpyHostToDevice));
  record_visits_kernel<<<blocks, threads>>>(visits_device, n);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaMemcpy(visits.data(), visits_device, bytes, cudaMemcpyDeviceToHost));
  CUDA_CHECK(cudaFree(visits_device));
  for (int i = 0; i < n; ++i) {
    const Visit& visit = visits[static_cast<std::size_t>(i)];
    std::printf("%d,%d,%d,%d,%d,%d\n", blocks, threads, i, visit.block, visit.thread, visit.step);
  }
}

}  // namespace

int main() {
  std::printf("blocks,threads,element,block,thread,step\n");
  print_visits(10, 3, 4);  // a thread for every element, and two too many
  print_visits(10, 2, 4);  // fewer threads than elements: some take a second step
}
