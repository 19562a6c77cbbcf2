// Two kernels are captured in two streams, of which the second waits for the start of the capture alone: in
// the graph, nothing orders the two.
//
// expect: race at A, other side B
#include <cuda_runtime.h>

__global__ void square(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = x[i] * x[i];  // B
}

__global__ void halve(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 0.5f * x[i];  // A
}

int main() {
  const int n = 64;
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  cudaMemset(x, 0, n * sizeof(float));
  cudaStream_t main_stream, side;
  cudaStreamCreate(&main_stream);
  cudaStreamCreate(&side);
  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  cudaStreamBeginCapture(main_stream, cudaStreamCaptureModeGlobal);
  cudaEventRecord(begin, main_stream);
  cudaStreamWaitEvent(side, begin, 0);
  square<<<2, 32, 0, main_stream>>>(x, n);
  halve<<<2, 32, 0, side>>>(x, y, n);
  cudaEventRecord(end, side);
  cudaStreamWaitEvent(main_stream, end, 0);
  cudaGraph_t graph;
  cudaStreamEndCapture(main_stream, &graph);
  cudaGraphExec_t exec;
  cudaGraphInstantiate(&exec, graph, 0);
  cudaGraphLaunch(exec, main_stream);
  cudaStreamSynchronize(main_stream);
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  cudaStreamDestroy(main_stream);
  cudaStreamDestroy(side);
  cudaFree(x);
  cudaFree(y);
  return 0;
}
