// Looks wrong: a graph that adds to an array is launched in two streams that nothing orders.
// It is right: a launch of a graph that has been instantiated waits for the launch before.

#include <cuda_runtime.h>

__global__ void add_kernel(int* values, int what) { values[threadIdx.x] += what; }

int main() {
  const int n = 32;
  int *values, out[n];
  cudaMalloc(&values, n * sizeof(int));
  cudaMemset(values, 0, n * sizeof(int));
  cudaDeviceSynchronize();
  cudaStream_t streams[2];
  for (cudaStream_t& stream : streams) cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeGlobal);
  add_kernel<<<1, n, 0, streams[0]>>>(values, 3);
  cudaGraph_t graph;
  cudaStreamEndCapture(streams[0], &graph);
  cudaGraphExec_t exec;
  cudaGraphInstantiate(&exec, graph, 0);
  cudaGraphLaunch(exec, streams[0]);
  cudaGraphLaunch(exec, streams[1]);
  for (cudaStream_t stream : streams) cudaStreamSynchronize(stream);
  cudaMemcpy(out, values, sizeof out, cudaMemcpyDeviceToHost);
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);
  for (cudaStream_t stream : streams) cudaStreamDestroy(stream);
  cudaFree(values);
  bool right = true;
  for (const int value : out) right = right && value == 6;
  return right ? 0 : 1;
}
