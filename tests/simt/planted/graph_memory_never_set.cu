// A kernel of a graph counts on from what the launch before has left in memory of the graph, which is new at
// every launch.
//
// expect: uninitialised_read at A, counters[0]
#include <cuda_runtime.h>

__global__ void increase(int* counters, int* out) {
  const int i = threadIdx.x;
  out[i] = counters[i] + 1;  // A
}

int main() {
  int *counters, *out;
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaMalloc(&out, 32 * sizeof(int));
  cudaGraph_t graph;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  cudaMallocAsync(&counters, 32 * sizeof(int), stream);
  increase<<<1, 32, 0, stream>>>(counters, out);
  cudaFreeAsync(counters, stream);
  cudaStreamEndCapture(stream, &graph);
  cudaGraphExec_t exec;
  cudaGraphInstantiate(&exec, graph, 0);
  for (int i = 0; i < 2; ++i) cudaGraphLaunch(exec, stream);
  cudaStreamSynchronize(stream);
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);
  cudaStreamDestroy(stream);
  cudaFree(out);
  return 0;
}
