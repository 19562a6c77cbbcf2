// Heat on a 3D grid, with 3D blocks and with planes that march through shared memory and registers.

#include <cuda_runtime.h>

#include <cstdio>
#include <utility>
#include <vector>

constexpr int NX = 40, NY = 24, NZ = 18;
__constant__ float coefficient[2];

__device__ __host__ inline int at(int x, int y, int z) { return (z * NY + y) * NX + x; }

__global__ void step_naive(const float* __restrict__ u, float* __restrict__ v) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
            z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x < 1 || y < 1 || z < 1 || x >= NX - 1 || y >= NY - 1 || z >= NZ - 1) return;
  v[at(x, y, z)] = coefficient[0] * u[at(x, y, z)] +
                   coefficient[1] * (u[at(x - 1, y, z)] + u[at(x + 1, y, z)] + u[at(x, y - 1, z)] +
                                     u[at(x, y + 1, z)] + u[at(x, y, z - 1)] + u[at(x, y, z + 1)]);
}

template <int BX, int BY>
__global__ void step_planes(const float* __restrict__ u, float* __restrict__ v) {
  __shared__ float plane[BY + 2][BX + 2];
  const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  const int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y;
  const bool exists = x < NX && y<NY, inside = x> 0 && y > 0 && x < NX - 1 && y < NY - 1;
  float below = 0, here = exists ? u[at(x, y, 0)] : 0, above = exists ? u[at(x, y, 1)] : 0;
  for (int z = 1; z < NZ - 1; ++z) {
    below = here, here = above, above = exists ? u[at(x, y, z + 1)] : 0;
    __syncthreads();
    plane[ty][tx] = here;
    if (threadIdx.x == 0 && inside) plane[ty][0] = u[at(x - 1, y, z)];
    if (threadIdx.x == BX - 1 && inside) plane[ty][BX + 1] = u[at(x + 1, y, z)];
    if (threadIdx.y == 0 && inside) plane[0][tx] = u[at(x, y - 1, z)];
    if (threadIdx.y == BY - 1 && inside) plane[BY + 1][tx] = u[at(x, y + 1, z)];
    __syncthreads();
    if (inside)
      v[at(x, y, z)] =
          coefficient[0] * here + coefficient[1] * (plane[ty][tx - 1] + plane[ty][tx + 1] +
                                                    plane[ty - 1][tx] + plane[ty + 1][tx] + below + above);
  }
}

int main() {
  const size_t n = (size_t)NX * NY * NZ;
  std::vector<float> u(n), expected(n), got(n);
  for (size_t i = 0; i < n; ++i) u[i] = (float)(i * i % 97);
  const float c[2] = {0.4f, 0.1f};
  cudaMemcpyToSymbol(coefficient, c, sizeof c);
  float *a, *b;
  cudaMalloc(&a, n * sizeof(float));
  cudaMalloc(&b, n * sizeof(float));
  int wrong = 0;
  for (int variant = 0; variant < 2; ++variant) {
    cudaMemcpy(a, u.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(b, a, n * sizeof(float), cudaMemcpyDeviceToDevice);
    for (int step = 0; step < 4; ++step, std::swap(a, b)) {
      if (variant == 0)
        step_naive<<<dim3(NX / 8, NY / 8, (NZ + 3) / 4), dim3{8, 8, 4}>>>(a, b);
      else
        step_planes<16, 8><<<dim3((NX + 15) / 16, NY / 8), dim3(16, 8)>>>(a, b);
    }
    cudaMemcpy(variant == 0 ? expected.data() : got.data(), a, n * sizeof(float), cudaMemcpyDeviceToHost);
  }
  double change = 0;
  for (size_t i = 0; i < n; ++i) {
    const float d = got[i] - expected[i];
    wrong += !(d < 1e-3f && d > -1e-3f);
    change += (expected[i] - u[i]) * (expected[i] - u[i]);
  }
  std::vector<float> x = u, y = u;  // four steps on the host
  for (int s = 0; s < 4; ++s, std::swap(x, y))
    for (int k = 1; k < NZ - 1; ++k)
      for (int j = 1; j < NY - 1; ++j)
        for (int i = 1; i < NX - 1; ++i)
          y[at(i, j, k)] =
              c[0] * x[at(i, j, k)] + c[1] * (x[at(i - 1, j, k)] + x[at(i + 1, j, k)] + x[at(i, j - 1, k)] +
                                              x[at(i, j + 1, k)] + x[at(i, j, k - 1)] + x[at(i, j, k + 1)]);
  for (size_t i = 0; i < n; ++i) wrong += !(x[i] - expected[i] < 1e-3f && x[i] - expected[i] > -1e-3f);
  cudaFree(a), cudaFree(b);
  printf("%d wrong, changed by %g\n", wrong, change);
  return wrong != 0 || !(change > 1);
}
