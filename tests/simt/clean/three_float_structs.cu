// Looks wrong: structs of 12 bytes lie across sectors and 16-byte boundaries, and neighbours in a warp write
// them side by side. It is right: their alignment is that of a float, and each struct is written by one
// thread.

#include <cuda_runtime.h>

struct Point {
  float x, y, z;
};

__global__ void rotate_points_kernel(const Point* in, Point* out, int n) {
  __shared__ Point staged[64];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) staged[threadIdx.x] = in[i];
  __syncthreads();
  const int partner = threadIdx.x ^ 1;
  if (i < n && blockIdx.x * blockDim.x + partner < n) {
    const Point& p = staged[partner];
    out[i] = {p.y, p.z, p.x};
  } else if (i < n) {
    out[i] = {0.0f, 0.0f, 0.0f};
  }
}

int main() {
  constexpr int kN = 101;
  Point in[kN], out[kN], *d_in, *d_out;
  for (int i = 0; i < kN; ++i) in[i] = {1.0f * i, 2.0f * i, 3.0f * i};
  cudaMalloc(&d_in, sizeof in);
  cudaMalloc(&d_out, sizeof out);
  cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
  rotate_points_kernel<<<2, 64>>>(d_in, d_out, kN);
  cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
  cudaFree(d_in);
  cudaFree(d_out);
  for (int i = 0; i < kN; ++i) {
    const int from = (i ^ 1) < kN ? i ^ 1 : 0;  // the last point has no partner; in[0] is zero
    if (out[i].x != in[from].y || out[i].y != in[from].z || out[i].z != in[from].x) return 1;
  }
  return 0;
}
