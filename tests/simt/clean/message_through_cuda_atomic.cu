// Looks wrong: one block reads a plain variable that another one writes.
// It is right: a flag that is stored with release and loaded with acquire lies between.

#include <cuda/atomic>
#include <cuda/std/array>

using Flag = cuda::atomic<int, cuda::thread_scope_device>;

__global__ void message_kernel(int* message, Flag* flag, int* out) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    *message = 42;
    flag->store(1, cuda::memory_order_release);
  } else {
    while (flag->load(cuda::memory_order_acquire) == 0) {
    }
    *out = *message;
  }
}

__global__ void count_kernel(cuda::std::array<int, 4> steps, int* sum) {
  cuda::atomic_ref<int, cuda::thread_scope_device> total(*sum);
  total.fetch_add(steps[threadIdx.x % 4], cuda::memory_order_relaxed);
}

int main() {
  int *data = nullptr, host[3];
  Flag* flag = nullptr;
  cudaMalloc(&data, sizeof host);
  cudaMalloc(&flag, sizeof(Flag));
  cudaMemset(data, 0, sizeof host);
  cudaMemset(flag, 0, sizeof(Flag));
  message_kernel<<<2, 32>>>(data, flag, data + 1);
  count_kernel<<<2, 64>>>({1, 2, 3, 4}, data + 2);
  cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(data);
  cudaFree(flag);
  return host[1] == 42 && host[2] == 320 ? 0 : 1;
}
