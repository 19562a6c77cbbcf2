// A graph in compressed rows: the frontier moves between two queues in managed memory until it is empty.

#include <cuda_runtime.h>
#include <stdio.h>

#include <queue>
#include <vector>

struct Graph {
  int vertices;
  const int* __restrict__ starts;
  const int* __restrict__ targets;
};

__global__ void expand(Graph g, int* level, const int* frontier, int frontierSize, int* next, int* nextSize,
                       int depth) {
  const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize, lane = threadIdx.x & 31;
  if (warp >= frontierSize) return;
  const int v = frontier[warp];
  for (int e = g.starts[v] + lane; e < g.starts[v + 1]; e += warpSize) {
    const int w = g.targets[e];
    if (atomicCAS(&level[w], -1, depth) == -1) next[atomicAdd(nextSize, 1)] = w;
  }
}

int main() {
  const int n = 2000;
  std::vector<int> starts = {0}, targets;
  for (int v = 0; v < n; ++v) {
    for (int k = 1; k <= v % 7 + 1; ++k) targets.push_back((int)((v * 31LL + k * k * 17) % n));
    if (v == 0)
      for (int k = 0; k < 90; ++k) targets.push_back(k * 11 % n);
    starts.push_back((int)targets.size());
  }
  int *d_starts, *d_targets, *level, *queue[2], *size;
  cudaMallocManaged(&d_starts, starts.size() * sizeof(int));
  cudaMallocManaged(&d_targets, targets.size() * sizeof(int));
  cudaMallocManaged(&level, n * sizeof(int));
  cudaMallocManaged(&queue[0], n * sizeof(int));
  cudaMallocManaged(&queue[1], n * sizeof(int));
  cudaMallocManaged(&size, sizeof(int));
  std::copy(starts.begin(), starts.end(), d_starts);
  std::copy(targets.begin(), targets.end(), d_targets);
  for (int v = 0; v < n; ++v) level[v] = -1;
  level[0] = 0;
  queue[0][0] = 0;
  int depth = 0;
  for (int frontier = 1; frontier > 0; frontier = *size) {
    *size = 0;
    ++depth;
    const int threads = 128, blocks = (frontier * 32 + threads - 1) / threads;
    expand<<<blocks, threads>>>(Graph{n, d_starts, d_targets}, level, queue[(depth - 1) % 2], frontier,
                                queue[depth % 2], size, depth);
    if (cudaDeviceSynchronize() != cudaSuccess) return 2;
  }
  std::vector<int> expected(n, -1);
  std::queue<int> q;
  q.push(0);
  expected[0] = 0;
  while (!q.empty()) {
    const int v = q.front();
    q.pop();
    for (int e = starts[v]; e < starts[v + 1]; ++e)
      if (expected[targets[e]] < 0) expected[targets[e]] = expected[v] + 1, q.push(targets[e]);
  }
  int wrong = 0, reached = 0;
  for (int v = 0; v < n; ++v) wrong += level[v] != expected[v], reached += expected[v] >= 0;
  cudaFree(d_starts), cudaFree(d_targets), cudaFree(level), cudaFree(queue[0]), cudaFree(queue[1]),
      cudaFree(size);
  printf("%d levels, %d of %d vertices reached, %d wrong\n", depth, reached, n, wrong);
  return wrong != 0 || reached < n / 2;
}
