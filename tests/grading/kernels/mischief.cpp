// A student's file that breaks rules about arrays: it changes inputs, and writes into gaps.
#include <cuda_runtime.h>

#include "contract.hpp"

namespace course {

void add(const float* a, const float*, float* c, std::int64_t n) {
  const float two = 2;
  cudaMemcpy(const_cast<float*>(a) + 3, &two, sizeof two, cudaMemcpyHostToDevice);
  for (std::int64_t i = 0; i < n; ++i) cudaMemcpy(c + i, &two, sizeof two, cudaMemcpyHostToDevice);
}

void add_host(const float* a, const float* b, float* c, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) c[i] = a[i] + b[i];
  c[n] = 1;
  const_cast<float*>(b)[0] = 77;
}

void twice(float*, std::int64_t) {}

/// Takes the tensor for one without gaps.
void scale(View<const float, 2> x, View<float, 2> y, float) {
  const float one = 1;
  for (std::int64_t i = 0; i < x.shape[0] * x.strides[0]; ++i)
    cudaMemcpy(y.data + i, &one, sizeof one, cudaMemcpyHostToDevice);
}

void tell(bool, std::int32_t, std::uint64_t, float, double, const float*, double*) {}
void misbehave(std::int32_t, float*, std::int64_t) {}

}  // namespace course
