// GELU on 128-bit packets, for float and for bfloat16, with streaming loads.

#include <assert.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GELU_SCALING_FACTOR sqrtf(2.0f / M_PI)

template <class ElementType>
struct alignas(16) Packed128 {
  Packed128() = default;
  __device__ explicit Packed128(int4 bits) {
    static_assert(sizeof(bits) == sizeof(payload), "Size mismatch.");
    memcpy(&payload, &bits, sizeof(bits));
  }
  __device__ ElementType& operator[](int index) { return payload[index]; }
  __device__ const ElementType& operator[](int index) const { return payload[index]; }
  __device__ int4 get_bits() const {
    int4 bits;
    static_assert(sizeof(bits) == sizeof(payload), "Size mismatch.");
    memcpy(&bits, &payload, sizeof(bits));
    return bits;
  }
  static constexpr const size_t size = sizeof(int4) / sizeof(ElementType);
  ElementType payload[size];
};

template <class ElementType>
__device__ Packed128<ElementType> load128cs(const ElementType* address) {
  return Packed128<ElementType>{__ldcs(reinterpret_cast<const int4*>(address))};
}
template <class ElementType>
__device__ void store128(ElementType* target, Packed128<ElementType> value) {
  *reinterpret_cast<int4*>(target) = value.get_bits();
}

template <class floatX>
__global__ void gelu_forward_kernel2(floatX* out, const floatX* inp, int N) {
  typedef Packed128<floatX> x128;
  int i = (blockIdx.x * blockDim.x + threadIdx.x) * x128::size;
  if (i < N) {
    x128 packed_out;
    x128 packed_inp = load128cs(inp + i);
    for (int k = 0; k < packed_inp.size; ++k) {
      float xi = (float)packed_inp[k];
      float cube = 0.044715f * xi * xi * xi;
      packed_out[k] = (floatX)(0.5f * xi * (1.0f + tanhf(GELU_SCALING_FACTOR * (xi + cube))));
    }
    store128(out + i, packed_out);
  }
}

__global__ void gelu_backward_float4(float* dinp, const float* inp, const float* dout, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i * 4 >= N) return;
  const float4 x4 = reinterpret_cast<const float4*>(inp)[i], d4 = ((const float4*)dout)[i];
  const float *x = &x4.x, *d = &d4.x;
  float r[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    float cube = 0.044715f * x[k] * x[k] * x[k];
    float tanh_arg = GELU_SCALING_FACTOR * (x[k] + cube), tanh_out = tanhf(tanh_arg),
          cosh_out = coshf(tanh_arg);
    float sech = 1.0f / (cosh_out * cosh_out);
    r[k] = d[k] * (0.5f * (1.0f + tanh_out) +
                   x[k] * 0.5f * sech * GELU_SCALING_FACTOR * (1.0f + 3.0f * 0.044715f * x[k] * x[k]));
  }
  reinterpret_cast<float4*>(dinp)[i] = make_float4(r[0], r[1], r[2], r[3]);
}

static double gelu(double x) { return 0.5 * x * (1 + tanh(sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }

template <class T>
double largest_error(int N, int block_size, double scale) {
  T *inp = (T*)malloc(N * sizeof(T)), *out = (T*)malloc(N * sizeof(T)), *d_inp, *d_out;
  for (int i = 0; i < N; ++i) inp[i] = (T)(4.0f * sinf((float)i));
  cudaMalloc(&d_inp, N * sizeof(T));
  cudaMalloc(&d_out, N * sizeof(T));
  cudaMemcpy(d_inp, inp, N * sizeof(T), cudaMemcpyHostToDevice);
  const int threads = N / Packed128<T>::size;
  gelu_forward_kernel2<<<(threads + block_size - 1) / block_size, block_size>>>(d_out, d_inp, N);
  cudaMemcpy(out, d_out, N * sizeof(T), cudaMemcpyDeviceToHost);
  double worst = cudaGetLastError() == cudaSuccess ? 0 : INFINITY;
  for (int i = 0; i < N; ++i) {
    const double expected = gelu((double)(float)inp[i]);
    worst = fmax(worst, fabs((double)(float)out[i] - expected) / (1 + fabs(expected)) * scale);
  }
  cudaFree(d_inp);
  cudaFree(d_out);
  free(inp);
  free(out);
  return worst;
}

int main() {
  const double f = largest_error<float>(6144, 128, 1e6), b = largest_error<__nv_bfloat16>(6144, 64, 256);
  printf("errors: float %g (of 1e-6), bfloat16 %g (of 2^-8)\n", f, b);

  const int N = 1024;
  float *x, *d, *g;
  cudaMallocManaged(&x, N * sizeof(float));
  cudaMallocManaged(&d, N * sizeof(float));
  cudaMallocManaged(&g, N * sizeof(float));
  for (int i = 0; i < N; ++i) x[i] = -3.0f + 6.0f * i / N, d[i] = 1.0f;
  gelu_backward_float4<<<2, 128>>>(g, x, d, N);
  cudaDeviceSynchronize();
  double worst = 0;
  for (int i = 0; i < N; ++i)
    worst = fmax(worst, fabs((gelu(x[i] + 1e-4) - gelu(x[i] - 1e-4)) / 2e-4 - g[i]));
  printf("gradient: %g\n", worst);
  cudaFree(x), cudaFree(d), cudaFree(g);
  return f < 2 && b < 1.5 && worst < 1e-5 ? 0 : 1;
}
