// Looks wrong: kernels in several streams add to one array, and no event stands between most of them.
// It is right: the default stream waits for the others and they for it, the host waits for one stream before
// it launches in another, asks until a stream is ready, or waits for an event. What nothing orders reads the
// same elements, or writes others.

#include <cuda_runtime.h>

__global__ void add_kernel(int* values, int what) { values[threadIdx.x] += what; }
__global__ void copy_kernel(const int* in, int* out) { out[threadIdx.x] = in[threadIdx.x]; }

int main() {
  const int n = 64;
  int *values, *one_copy, *other_copy, out[3][n];
  cudaMalloc(&values, n * sizeof(int));
  cudaMalloc(&one_copy, n * sizeof(int));
  cudaMalloc(&other_copy, n * sizeof(int));
  cudaMemset(values, 0, n * sizeof(int));
  cudaStream_t waits, waits_too, alone, alone_too;
  cudaStreamCreate(&waits);
  cudaStreamCreate(&waits_too);
  cudaStreamCreateWithFlags(&alone, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&alone_too, cudaStreamNonBlocking);
  cudaEvent_t event;
  cudaEventCreateWithFlags(&event, cudaEventDisableTiming);

  add_kernel<<<1, n, 0, waits>>>(values, 1);
  add_kernel<<<1, n>>>(values, 2);  // in the default stream
  add_kernel<<<1, n, 0, waits_too>>>(values, 3);
  cudaStreamSynchronize(waits_too);
  add_kernel<<<1, n, 0, alone>>>(values, 4);
  while (cudaStreamQuery(alone) == cudaErrorNotReady) {
  }
  add_kernel<<<1, n, 0, alone_too>>>(values, 5);
  cudaEventRecord(event, alone_too);
  add_kernel<<<1, n / 2, 0, alone_too>>>(values, 6);
  cudaEventSynchronize(event);
  add_kernel<<<1, n / 2, 0, alone>>>(values + n / 2, 7);  // beside the one above, which has the other half
  cudaEventRecord(event, alone);
  cudaStreamWaitEvent(alone_too, event, 0);
  copy_kernel<<<1, n, 0, alone_too>>>(values, one_copy);
  cudaEventRecord(event, alone_too);
  cudaStreamWaitEvent(waits, event, 0);
  add_kernel<<<1, n, 0, alone_too>>>(one_copy, 1);
  copy_kernel<<<1, n, 0, waits>>>(values, other_copy);
  cudaDeviceSynchronize();

  cudaMemcpy(out[0], values, sizeof out[0], cudaMemcpyDeviceToHost);
  cudaMemcpy(out[1], one_copy, sizeof out[1], cudaMemcpyDeviceToHost);
  cudaMemcpy(out[2], other_copy, sizeof out[2], cudaMemcpyDeviceToHost);
  bool right = true;
  for (int i = 0; i < n; ++i) {
    const int value = 15 + (i < n / 2 ? 6 : 7);
    right = right && out[0][i] == value && out[1][i] == value + 1 && out[2][i] == value;
  }
  cudaEventDestroy(event);
  for (cudaStream_t stream : {waits, waits_too, alone, alone_too}) cudaStreamDestroy(stream);
  for (int* memory : {values, one_copy, other_copy}) cudaFree(memory);
  return right ? 0 : 1;
}
