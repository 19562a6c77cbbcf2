// Looks wrong: memory that nobody frees between two launches of a graph, read before any call has written it,
// and kernels of two streams that use one array. It is right: the graph itself allocates, sets and frees, and
// events order the two streams.

#include <cuda_runtime.h>

__global__ void add(float* values, const float* addends, int n) {
  const int i = threadIdx.x;
  if (i < n) values[i] += addends[i];
}

int main() {
  constexpr int kCount = 48;
  float *values, *scratch, host[kCount] = {};
  cudaStream_t stream, other;
  cudaEvent_t fork, join;
  cudaStreamCreate(&stream);
  cudaStreamCreate(&other);
  cudaEventCreate(&fork);
  cudaEventCreate(&join);
  cudaMalloc(&values, sizeof host);
  cudaMemset(values, 0, sizeof host);

  cudaGraph_t graph;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  cudaMallocAsync(&scratch, sizeof host, stream);
  cudaMemsetAsync(scratch, 0, sizeof host, stream);
  cudaEventRecord(fork, stream);
  cudaStreamWaitEvent(other, fork);
  add<<<1, 64, 0, other>>>(values, scratch, kCount);
  cudaEventRecord(join, other);
  cudaStreamWaitEvent(stream, join);
  add<<<1, 64, 0, stream>>>(scratch, values, kCount);
  cudaMemcpyAsync(host, scratch, sizeof host, cudaMemcpyDeviceToHost, stream);
  cudaFreeAsync(scratch, stream);
  cudaStreamEndCapture(stream, &graph);

  cudaGraphExec_t exec;
  cudaGraphInstantiate(&exec, graph, 0);
  cudaGraphDestroy(graph);
  for (int i = 0; i < 3; ++i) cudaGraphLaunch(exec, stream);
  cudaStreamSynchronize(stream);
  cudaGraphExecDestroy(exec);
  cudaEventDestroy(fork);
  cudaEventDestroy(join);
  cudaStreamDestroy(other);
  cudaStreamDestroy(stream);
  cudaFree(values);
  for (const float value : host)
    if (value != 0) return 1;
  return 0;
}
