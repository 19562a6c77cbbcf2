// A group of lanes picks its lowest lane as leader, the leader returns, and the others ask it for its value.
// A shuffle needs its source among the lanes that take part in it.
//
// expect: inactive_lane at A
#include <cuda_runtime.h>

__global__ void share_ticket(const int* x, int* counter, int* out) {
  const int lane = threadIdx.x, value = x[lane];
  const unsigned group = __ballot_sync(0xffffffff, value > 0);
  if (value <= 0) return;
  const int leader = __ffs(group) - 1;
  int ticket = 0;
  if (lane == leader) {
    ticket = atomicAdd(counter, __popc(group));
    out[lane] = ticket;
    return;
  }
  out[lane] = __shfl_sync(group, ticket, leader);  // A
}

int main() {
  int values[32], *x, *counter, *out;
  for (int i = 0; i < 32; ++i) values[i] = i % 3;
  cudaMalloc(&x, sizeof values);
  cudaMalloc(&counter, sizeof(int));
  cudaMalloc(&out, sizeof values);
  cudaMemcpy(x, values, sizeof values, cudaMemcpyHostToDevice);
  cudaMemset(counter, 0, sizeof(int));
  share_ticket<<<1, 32>>>(x, counter, out);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(counter);
  cudaFree(out);
  return 0;
}
