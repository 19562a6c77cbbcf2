// Measures what each rounding to 16 bits costs dQ, for the figure of lesson 24, by the number of keys and by
// the size of the scores. Prints CSV: type,keys,scores,operands,delta,sums. `operands` is the error of dQ if
// dS is rounded before it meets K; `delta` if delta is rounded, and nothing else; `sums` if dQ is, after
// every 64 keys. Each is the root of the mean square of the errors against float64, divided by that of dQ.
// scripts/figure_tensor_core_backward.py draws it.

#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstdio>

#include "device/cuda_check.hpp"
#include "device/float16.hpp"

namespace {

using course::device::rounded_to;
using course::device::to_float;

constexpr int kDim = 32, kQueries = 32, kTile = 64;

/// What is rounded on the way to dQ.
enum class Rounded { nothing, operands, delta, sums };

/// A number in [-1, 1) that looks random.
__device__ float number(std::uint32_t i) {
  i = (i ^ i >> 16) * 2246822519u;
  i = (i ^ i >> 13) * 3266489917u;
  return static_cast<float>((i ^ i >> 16) >> 8) * 0x1p-23f - 1.0f;
}

template <class T>
__device__ double round_to(double x) {
  return static_cast<double>(to_float(rounded_to<T>(static_cast<float>(x))));
}

enum Array { kQ, kK, kV, kGradient };

/// A row of Q, K, V or dO in numbers of T. Those of V and dO lie about 1, so that dP and delta are near each
/// other.
template <class T>
struct Row {
  double x[kDim];
  __device__ Row(Array array, int row) {
    const float shift = array == kV || array == kGradient ? 1.0f : 0.0f;
    for (int d = 0; d < kDim; ++d)
      x[d] = round_to<T>(
          static_cast<double>(number(static_cast<std::uint32_t>((array * 65536 + row) * kDim + d)) + shift));
  }
  __device__ double dot(const Row& other) const {
    double sum = 0;
    for (int d = 0; d < kDim; ++d) sum += x[d] * other.x[d];
    return sum;
  }
};

/// dQ of a query for each thread. Shapes: dQ is (kQueries, kDim).
template <class T, Rounded kRounded>
__global__ void queries_kernel(int keys, double scale, double* dQ) {
  const int query = static_cast<int>(threadIdx.x);
  const Row<T> q(kQ, query), dO(kGradient, query);
  double l = 0, delta = 0;
  for (int key = 0; key < keys; ++key) {
    const double weight = exp(scale * q.dot(Row<T>(kK, key)));
    l += weight;
    delta += weight * dO.dot(Row<T>(kV, key));
  }
  delta /= l;
  if (kRounded == Rounded::delta) delta = round_to<T>(delta);
  double sums[kDim] = {};
  for (int key = 0; key < keys; ++key) {
    const Row<T> k(kK, key);
    double dS = exp(scale * q.dot(k)) / l * (dO.dot(Row<T>(kV, key)) - delta);
    if (kRounded == Rounded::operands) dS = round_to<T>(dS);
    for (int d = 0; d < kDim; ++d) {
      sums[d] += dS * k.x[d];
      if (kRounded == Rounded::sums && key % kTile == kTile - 1) sums[d] = round_to<T>(sums[d]);
    }
  }
  for (int d = 0; d < kDim; ++d) dQ[query * kDim + d] = sums[d];
}

struct Results {
  double dQ[kQueries * kDim];
};

template <class T, Rounded kRounded>
Results results(int keys, double scale) {
  Results host{};
  double* on_device = nullptr;
  CUDA_CHECK(cudaMalloc(&on_device, sizeof(host.dQ)));
  queries_kernel<T, kRounded><<<1, kQueries>>>(keys, scale, on_device);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaMemcpy(host.dQ, on_device, sizeof(host.dQ), cudaMemcpyDeviceToHost));
  CUDA_CHECK(cudaFree(on_device));
  return host;
}

double error_of(const Results& got, const Results& exact) {
  double errors = 0, squares = 0;
  for (int i = 0; i < kQueries * kDim; ++i) {
    const double off = got.dQ[i] - exact.dQ[i];
    errors += off * off;
    squares += exact.dQ[i] * exact.dQ[i];
  }
  return std::sqrt(errors / squares);
}

/// Scores up to about `scores`: a product of two rows is seldom more than 8.
template <class T>
void measure(const char* type, int keys, double scores) {
  const double scale = scores / 8;
  const Results exact = results<T, Rounded::nothing>(keys, scale);
  std::printf("%s,%d,%.0f,%.2e,%.2e,%.2e\n", type, keys, scores,
              error_of(results<T, Rounded::operands>(keys, scale), exact),
              error_of(results<T, Rounded::delta>(keys, scale), exact),
              error_of(results<T, Rounded::sums>(keys, scale), exact));
}

template <class T>
void measure_all(const char* type) {
  for (const int keys : {128, 512, 2048, 8192}) measure<T>(type, keys, 2);
  for (const double scores : {8.0, 32.0}) measure<T>(type, 2048, scores);
}

}  // namespace

int main() {
  std::printf("type,keys,scores,operands,delta,sums\n");
  measure_all<__nv_bfloat16>("bfloat16");
  measure_all<__half>("float16");
  return 0;
}
