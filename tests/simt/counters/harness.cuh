// What the programs of this folder share: device arrays with known contents, and checks of what a kernel
// wrote.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

inline int failures = 0;

inline void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::printf("%s\n", cudaGetErrorString(error));
  std::exit(2);
}

/// Device memory of `size` elements.
template <class T>
class Array {
 public:
  /// Zeros.
  explicit Array(int size) : size_(size) {
    check(cudaMalloc(&data_, size * sizeof(T)));
    check(cudaMemset(data_, 0, size * sizeof(T)));
  }
  explicit Array(const std::vector<T>& values) : Array(static_cast<int>(values.size())) {
    check(cudaMemcpy(data_, values.data(), size_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  ~Array() { cudaFree(data_); }

  T* data() { return data_; }

  /// Waits for the kernels before.
  std::vector<T> read() const {
    std::vector<T> values(size_);
    check(cudaMemcpy(values.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
  }

 private:
  T* data_ = nullptr;
  int size_;
};

/// Bytes without a pattern.
template <class T>
std::vector<T> scrambled(int size) {
  std::vector<T> values(size);
  std::vector<unsigned char> bytes(size * sizeof(T));
  unsigned state = 1;
  for (unsigned char& byte : bytes)
    byte = static_cast<unsigned char>((state = state * 1664525u + 1013904223u) >> 24);
  std::memcpy(static_cast<void*>(values.data()), bytes.data(), bytes.size());
  return values;
}

/// Small whole numbers, so that sums of them are exact in any order.
inline std::vector<float> small_numbers(int size) {
  std::vector<float> values(size);
  for (int i = 0; i < size; ++i) values[i] = static_cast<float>(i * 7 % 13 - 6);
  return values;
}

/// Holds y[i] against expected(i), byte for byte.
template <class T, class Expected>
void expect(const char* kernel, const Array<T>& y, Expected expected) {
  check(cudaGetLastError());
  const std::vector<T> found = y.read();
  for (int i = 0; i < static_cast<int>(found.size()); ++i) {
    const T wanted = expected(i);
    if (std::memcmp(&found[i], &wanted, sizeof(T)) == 0) continue;
    std::printf("%s: element %d is wrong\n", kernel, i);
    ++failures;
    return;
  }
}

/// Holds y[i] against x[source(i)], or against zero where source(i) < 0.
template <class T, class Source>
void expect_copy(const char* kernel, const Array<T>& y, const std::vector<T>& x, Source source) {
  expect(kernel, y, [&](int i) { return source(i) < 0 ? T{} : x[source(i)]; });
}

inline int finish(const char* program) {
  if (failures == 0) std::printf("%s: ok\n", program);
  return failures == 0 ? 0 : 1;
}
