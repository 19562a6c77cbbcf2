// How not to grade: this program has the code that it judges linked into itself.
//
// A script compiles it together with a student's file and trusts its exit status, or the last line that it
// prints. Both belong to whoever is in the process: the student's code can end it, print for it, or change
// what it compares. The comparison has a hole of its own: no difference to NaN is too large.
//
// tests/grading/naive_grader_test.py counts which submissions of tests/grading/hostile this lets pass.

#include <cuda_runtime.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace course {
void vector_add(const float* a, const float* b, float* c, std::int64_t n);
void vector_add_host(const float* a, const float* b, float* c, std::int64_t n);
}  // namespace course

namespace {

using Add = void (*)(const float*, const float*, float*, std::int64_t);

/// Calls vector_add on copies in device memory.
void add_on_device(const float* a, const float* b, float* c, std::int64_t n) {
  const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(float);
  float *x = nullptr, *y = nullptr, *z = nullptr;
  for (float** array : {&x, &y, &z}) cudaMalloc(array, bytes);
  cudaMemcpy(x, a, bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(y, b, bytes, cudaMemcpyHostToDevice);
  course::vector_add(x, y, z, n);
  cudaMemcpy(c, z, bytes, cudaMemcpyDeviceToHost);
  for (float* array : {x, y, z}) cudaFree(array);
}

bool adds(Add add, std::int64_t n) {
  const auto size = static_cast<std::size_t>(n);
  std::vector<float> a(size), b(size), c(size);
  for (std::size_t i = 0; i < size; ++i) {
    a[i] = 0.5f * static_cast<float>(i);
    b[i] = 100.0f - static_cast<float>(i);
  }
  add(a.data(), b.data(), c.data(), n);
  for (std::size_t i = 0; i < size; ++i)
    if (std::fabs(c[i] - (a[i] + b[i])) > 1e-3f) return false;
  return true;
}

}  // namespace

int main() {
  for (const std::int64_t n : {1, 10, 1000}) {
    if (adds(add_on_device, n) && adds(course::vector_add_host, n)) continue;
    std::puts("FAIL");
    return 1;
  }
  std::puts("PASS");
  return 0;
}
