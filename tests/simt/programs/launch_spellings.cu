// Launches as nvcc takes them: blanks within the brackets, a literal 0 for a pointer, values in braces, names
// that need no include, kernels as void*.

#include <cstdio>

struct Pair {
  int a;
  float b;
};

template <int kValue, class T>
__global__ void store(T* data) {
  data[threadIdx.x] = kValue;
}
template <class T>
__global__ void store_if(T* data, T value) {
  if (data) data[0] = value;
}
__global__ void combine(int* data, int* none, Pair pair, int zero, dim3 size, bool no) {
  if (!none && !no && zero == 0) data[0] = pair.a + (int)pair.b + size.y;
}

int main() {
  int *device, x = 3, host[4] = {INT_MIN, INT_MIN, INT_MIN, INT_MIN};
  cudaMalloc(&device, 128);
  store<4, int><<<dim3(1), 32>>>(device);
  cudaMemcpy(&host[0], device, sizeof(int), cudaMemcpyDeviceToHost);
  combine<<<1, 1>>>(device, 0, {x, 4.5f}, 0, {1, 5}, 0);
  cudaMemcpy(&host[1], device, sizeof(int), cudaMemcpyDeviceToHost);
  store_if<int><<<1, 1>>>(0, 0);
  store_if<<<1, 1>>>(device, 0);
  cudaMemcpy(&host[2], device, sizeof(int), cudaMemcpyDeviceToHost);
  int value = 8;
  void* arguments[] = {&device, &value};
  cudaLaunchKernel((const void*)store_if<int>, dim3(1), dim3(1), arguments, 0, 0);
  cudaMemcpy(&host[3], device, sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(device);
  printf("%d %d %d %d\n", host[0], host[1], host[2], host[3]);
  return host[0] == 4 && host[1] == 12 && host[2] == 0 && host[3] == 8 ? 0 : 1;
}
