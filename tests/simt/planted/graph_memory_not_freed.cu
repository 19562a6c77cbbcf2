// A graph allocates memory, and is launched again before anybody has freed it.
//
// expect: unchecked_error at A
#include <cuda_runtime.h>

__global__ void fill(int* values) { values[threadIdx.x] = threadIdx.x; }

int main() {
  int* values;
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaGraph_t graph;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  cudaMallocAsync(&values, 32 * sizeof(int), stream);  // A
  fill<<<1, 32, 0, stream>>>(values);
  cudaStreamEndCapture(stream, &graph);
  cudaGraphExec_t exec;
  cudaGraphInstantiate(&exec, graph, 0);
  cudaGraphLaunch(exec, stream);
  cudaGraphLaunch(exec, stream);
  cudaFreeAsync(values, stream);
  cudaStreamSynchronize(stream);
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);
  cudaStreamDestroy(stream);
  return 0;
}
