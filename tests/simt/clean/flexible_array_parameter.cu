// A message is a header and as many numbers as it says. Its struct ends in an array without a size, and the
// header has padding that nobody writes.
#include <cuda_runtime.h>

struct Message {
  char kind;
  int count;
  bool last;
  float numbers[];
};

__global__ void fill_kernel(Message* message, int count) {
  if (threadIdx.x == 0) {
    message->kind = 'n';
    message->count = count;
    message->last = true;
  }
  message->numbers[threadIdx.x] = static_cast<float>(threadIdx.x);
}

__global__ void sum_kernel(const Message* message, float* sum) {
  const Message header = *message;
  float total = header.last && header.kind == 'n' ? 0 : -1;
  for (int i = 0; i < header.count; ++i) total += message->numbers[i];
  *sum = total;
}

int main() {
  constexpr int kCount = 37;
  Message* message;
  float *sum, host = 0;
  cudaMalloc(&message, sizeof(Message) + kCount * sizeof(float));
  cudaMalloc(&sum, sizeof(float));
  fill_kernel<<<1, kCount>>>(message, kCount);
  sum_kernel<<<1, 1>>>(message, sum);
  cudaMemcpy(&host, sum, sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(message);
  cudaFree(sum);
  return host == kCount * (kCount - 1) / 2 ? 0 : 1;
}
