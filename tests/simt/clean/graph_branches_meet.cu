// Looks wrong: two branches of a graph write one array, and a third kernel reads all of it.
// It is right: each branch has a half of its own, and the reader waits for both; so does the next launch of
// the graph, and what follows it in its stream.

#include <cuda_runtime.h>

__global__ void add_kernel(int* values, int what) { values[threadIdx.x] += what; }
__global__ void sum_kernel(const int* values, int n, int* sum) {
  for (int i = 0; i < n; ++i) *sum += values[i];
}

int main() {
  const int n = 64;
  int *values, *sum, out = 0;
  cudaMalloc(&values, n * sizeof(int));
  cudaMalloc(&sum, sizeof(int));
  cudaMemset(values, 0, n * sizeof(int));
  cudaMemset(sum, 0, sizeof(int));
  cudaStream_t stream, side;
  cudaStreamCreate(&stream);
  cudaStreamCreate(&side);
  cudaEvent_t fork, join;
  cudaEventCreate(&fork);
  cudaEventCreate(&join);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  cudaEventRecord(fork, stream);
  cudaStreamWaitEvent(side, fork, 0);
  add_kernel<<<1, n / 2, 0, stream>>>(values, 1);
  add_kernel<<<1, n / 2, 0, side>>>(values + n / 2, 2);
  cudaEventRecord(join, side);
  cudaStreamWaitEvent(stream, join, 0);
  sum_kernel<<<1, 1, 0, stream>>>(values, n, sum);
  cudaGraph_t graph;
  cudaStreamEndCapture(stream, &graph);
  cudaGraphExec_t exec;
  cudaGraphInstantiate(&exec, graph, 0);
  cudaGraphLaunch(exec, stream);
  cudaGraphLaunch(exec, stream);
  add_kernel<<<1, 1, 0, stream>>>(sum, 5);
  cudaStreamSynchronize(stream);
  cudaMemcpy(&out, sum, sizeof out, cudaMemcpyDeviceToHost);
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);
  cudaEventDestroy(fork);
  cudaEventDestroy(join);
  cudaStreamDestroy(stream);
  cudaStreamDestroy(side);
  cudaFree(values);
  cudaFree(sum);
  return out == (n / 2) * 3 + (n / 2) * 6 + 5 ? 0 : 1;
}
