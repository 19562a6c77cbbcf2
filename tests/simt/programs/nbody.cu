// Gravity among a few hundred bodies: structures by value, float4 in shared memory, device functions by
// reference.

#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <vector>

struct Parameters {
  float softening2, dt;
  int count;
  struct {
    float damping;
    bool periodic;
  } options;
};

struct Bodies {
  float4* position;
  float3* velocity;
};

__host__ __device__ inline float3 operator+(const float3& a, const float3& b) {
  return make_float3(a.x + b.x, a.y + b.y, a.z + b.z);
}
__device__ float3& operator*=(float3& v, float s) {
  v.x *= s, v.y *= s, v.z *= s;
  return v;
}

__device__ void interact(float3& a, const float4& bi, const float4& bj, float softening2) {
  const float3 r = {bj.x - bi.x, bj.y - bi.y, bj.z - bi.z};
  const float d2 = r.x * r.x + r.y * r.y + r.z * r.z + softening2;
  const float inv = rsqrtf(d2), s = bj.w * inv * inv * inv;
  a.x += r.x * s, a.y += r.y * s, a.z += r.z * s;
}

__global__ __launch_bounds__(128) void integrate(Bodies next, const Bodies now, const Parameters p) {
  extern __shared__ float4 sharedPos[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float3 acceleration{0.0f, 0.0f, 0.0f};
  const float4 me = i < p.count ? now.position[i] : float4{0, 0, 0, 0};
  for (int tile = 0; tile < gridDim.x; ++tile) {
    const int j = tile * blockDim.x + threadIdx.x;
    sharedPos[threadIdx.x] = j < p.count ? now.position[j] : make_float4(0, 0, 0, 0);
    __syncthreads();
#pragma unroll 8
    for (unsigned k = 0; k < blockDim.x; ++k) interact(acceleration, me, sharedPos[k], p.softening2);
    __syncthreads();
  }
  if (i >= p.count) return;
  acceleration *= p.dt;
  float3 v = now.velocity[i] + acceleration;
  if (!p.options.periodic) v *= p.options.damping;
  next.velocity[i] = v;
  next.position[i] = {me.x + v.x * p.dt, me.y + v.y * p.dt, me.z + v.z * p.dt, me.w};
}

int main() {
  const int n = 300, steps = 3;
  std::vector<float4> position(n), got(n);
  std::vector<float3> velocity(n, make_float3(0, 0, 0));
  for (int i = 0; i < n; ++i) position[i] = make_float4(sinf(i), cosf(2.0f * i), sinf(3.0f * i), 1.0f / n);
  Bodies device[2];
  for (Bodies& b : device) {
    cudaMalloc(&b.position, n * sizeof(float4));
    cudaMalloc(&b.velocity, n * sizeof(float3));
  }
  cudaMemcpy(device[0].position, position.data(), n * sizeof(float4), cudaMemcpyHostToDevice);
  cudaMemcpy(device[0].velocity, velocity.data(), n * sizeof(float3), cudaMemcpyHostToDevice);
  const Parameters p = {0.01f, 0.02f, n, {0.995f, false}};
  const int threads = 128, blocks = (n + threads - 1) / threads;
  for (int s = 0; s < steps; ++s)
    integrate<<<blocks, threads, threads * sizeof(float4)>>>(device[(s + 1) % 2], device[s % 2], p);
  cudaMemcpy(got.data(), device[steps % 2].position, n * sizeof(float4), cudaMemcpyDeviceToHost);
  if (cudaGetLastError() != cudaSuccess) return 2;

  std::vector<double> x(3 * n), v(3 * n, 0.0);
  for (int i = 0; i < n; ++i)
    x[3 * i] = position[i].x, x[3 * i + 1] = position[i].y, x[3 * i + 2] = position[i].z;
  for (int s = 0; s < steps; ++s) {
    std::vector<double> a(3 * n, 0.0);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        double r[3], d2 = p.softening2;
        for (int k = 0; k < 3; ++k) r[k] = x[3 * j + k] - x[3 * i + k], d2 += r[k] * r[k];
        for (int k = 0; k < 3; ++k) a[3 * i + k] += r[k] / n / (d2 * sqrt(d2));
      }
    for (int i = 0; i < 3 * n; ++i) v[i] = (v[i] + a[i] * p.dt) * p.options.damping, x[i] += v[i] * p.dt;
  }
  double worst = 0;
  for (int i = 0; i < n; ++i)
    worst = fmax(worst, fmax(fabs(x[3 * i] - got[i].x),
                             fmax(fabs(x[3 * i + 1] - got[i].y), fabs(x[3 * i + 2] - got[i].z))));
  for (Bodies& b : device) cudaFree(b.position), cudaFree(b.velocity);
  printf("largest error %g\n", worst);
  return worst < 1e-5 ? 0 : 1;
}
