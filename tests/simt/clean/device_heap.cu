// Looks wrong: memory allocated by one thread is written by others, read by a third, and freed in the kernel.
// It is right: barriers separate allocation, writes, reads and release.

#include <cuda_runtime.h>

struct Node {
  int value;
  Node* next;
};

__global__ void share_list_kernel(int* out) {
  __shared__ int* scratch;
  __shared__ Node* heads[32];
  const int thread = threadIdx.x;
  if (thread == 0) scratch = static_cast<int*>(malloc(32 * sizeof(int)));
  heads[thread] = new Node{thread, new Node{10 * thread, nullptr}};
  __syncthreads();
  int sum = 0;
  for (const Node* node = heads[31 - thread]; node != nullptr; node = node->next) sum += node->value;
  scratch[thread] = sum;
  __syncthreads();
  out[thread] = scratch[(thread + 1) % 32];
  delete heads[thread]->next;
  delete heads[thread];
  __syncthreads();  // all have read
  if (thread == 0) free(scratch);
}

int main() {
  int out[32] = {}, *d_out;
  cudaMalloc(&d_out, sizeof out);
  share_list_kernel<<<1, 32>>>(d_out);
  cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
  cudaFree(d_out);
  for (int i = 0; i < 32; ++i)
    if (out[i] != 11 * (31 - (i + 1) % 32)) return 1;
  return 0;
}
