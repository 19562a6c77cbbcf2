// Looks wrong: a kernel calls virtual functions of objects to which no line assigns a table.
// It is right: the constructors, which ran in an earlier kernel, have written the pointers to it.

#include <cuda_runtime.h>

#include <new>

struct Shape {
  __device__ virtual float area() const = 0;
  __device__ virtual ~Shape() {}
};
struct Square : Shape {
  __device__ explicit Square(float length) : side(length) {}
  __device__ float area() const override { return side * side; }
  float side;
};

__global__ void build_kernel(unsigned char* memory) {
  new (memory + threadIdx.x * sizeof(Square)) Square(static_cast<float>(threadIdx.x));
}

__global__ void area_kernel(const unsigned char* memory, float* areas) {
  areas[threadIdx.x] = reinterpret_cast<const Shape*>(memory + threadIdx.x * sizeof(Square))->area();
}

int main() {
  unsigned char* memory = nullptr;
  float *areas = nullptr, host[32];
  cudaMalloc(&memory, 32 * sizeof(Square));
  cudaMalloc(&areas, sizeof host);
  build_kernel<<<1, 32>>>(memory);
  area_kernel<<<1, 32>>>(memory, areas);
  cudaMemcpy(host, areas, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(memory);
  cudaFree(areas);
  return host[3] == 9.0f && host[31] == 961.0f ? 0 : 1;
}
