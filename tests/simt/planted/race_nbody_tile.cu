// An n-body kernel refills its tile of bodies after __syncwarp() only, while other warps still read the old
// bodies. All threads of the block read the whole tile, so all must have finished: that is __syncthreads().
//
// expect: race at A, other side B
#include <cuda_runtime.h>

__global__ void accelerate(const float4* bodies, float4* forces, int n) {
  extern __shared__ float4 tile[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 me = bodies[i];
  float3 sum = {0.0f, 0.0f, 0.0f};
  for (int first = 0; first < n; first += blockDim.x) {
    tile[threadIdx.x] = bodies[first + threadIdx.x];  // A
    __syncthreads();
    for (int j = 0; j < blockDim.x; ++j) {
      const float4 body = tile[j];  // B
      const float dx = body.x - me.x, dy = body.y - me.y, dz = body.z - me.z;
      const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-3f);
      const float pull = body.w * inverse * inverse * inverse;
      sum.x += pull * dx;
      sum.y += pull * dy;
      sum.z += pull * dz;
    }
    __syncwarp();
  }
  forces[i] = make_float4(sum.x, sum.y, sum.z, 0.0f);
}

int main() {
  const int n = 128;
  float4 *bodies, *forces;
  cudaMalloc(&bodies, n * sizeof(float4));
  cudaMalloc(&forces, n * sizeof(float4));
  cudaMemset(bodies, 0, n * sizeof(float4));
  accelerate<<<n / 64, 64, 64 * sizeof(float4)>>>(bodies, forces, n);
  cudaDeviceSynchronize();
  cudaFree(bodies);
  cudaFree(forces);
  return 0;
}
