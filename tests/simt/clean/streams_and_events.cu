// Looks wrong: two streams write the same buffer, and a third reads it.
// It is right: events make each stream wait for the work before it.

#include <cuda_runtime.h>

__global__ void fill_kernel(int* values, int first) { values[threadIdx.x] = first + threadIdx.x; }
__global__ void square_kernel(int* values) { values[threadIdx.x] *= values[threadIdx.x]; }
__global__ void reverse_kernel(const int* in, int* out) { out[threadIdx.x] = in[63 - threadIdx.x]; }

int main() {
  int *d_values, *d_reversed, *out;
  cudaStream_t streams[3];
  cudaEvent_t filled, squared;
  cudaMalloc(&d_values, 64 * sizeof(int));
  cudaMalloc(&d_reversed, 64 * sizeof(int));
  cudaMallocHost(&out, 64 * sizeof(int));
  for (cudaStream_t& stream : streams) cudaStreamCreate(&stream);
  cudaEventCreateWithFlags(&filled, cudaEventDisableTiming);
  cudaEventCreateWithFlags(&squared, cudaEventDisableTiming);

  fill_kernel<<<1, 64, 0, streams[0]>>>(d_values, 5);
  cudaEventRecord(filled, streams[0]);
  cudaStreamWaitEvent(streams[1], filled, 0);
  square_kernel<<<1, 64, 0, streams[1]>>>(d_values);
  cudaEventRecord(squared, streams[1]);
  cudaStreamWaitEvent(streams[2], squared, 0);
  reverse_kernel<<<1, 64, 0, streams[2]>>>(d_values, d_reversed);
  cudaMemcpyAsync(out, d_reversed, 64 * sizeof(int), cudaMemcpyDeviceToHost, streams[2]);
  cudaStreamSynchronize(streams[2]);

  bool right = true;
  for (int i = 0; i < 64; ++i) right = right && out[i] == (5 + 63 - i) * (5 + 63 - i);
  cudaEventDestroy(filled);
  cudaEventDestroy(squared);
  for (cudaStream_t stream : streams) cudaStreamDestroy(stream);
  cudaFree(d_values);
  cudaFree(d_reversed);
  cudaFreeHost(out);
  return right ? 0 : 1;
}
