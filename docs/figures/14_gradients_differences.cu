// Measures how far difference quotients lie from the gradient of a softmax, for the figure of lesson 14.
// Prints CSV: precision,quotient,log2_step,error. For each step h, 16 rows of 32 scores and losses L = Σ dP ∘
// softmax(S), the error is the root mean square over all scores of quotient - gradient, divided by that of
// the gradient. scripts/figure_gradients.py draws it.

#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "device/cuda_check.hpp"

namespace {

constexpr int kRows = 16, kCols = 32, kElements = kRows * kCols, kSmallestLog2 = -40;

/// A number in [0, 1) that looks random, a multiple of 2^-24.
float number(std::uint32_t i) {
  i = (i ^ i >> 16) * 2246822519u;
  i = (i ^ i >> 13) * 3266489917u;
  return static_cast<float>((i ^ i >> 16) >> 8) * 0x1p-24f;
}

/// exp(x) for |x| of at most 4, out of sums and products alone: libraries differ in its last bit.
template <class T>
__host__ __device__ T exponential(T x) {
  x /= 64;
  T sum = 1;
  for (int n = 12; n > 0; --n) sum = 1 + x * sum / static_cast<T>(n);
  for (int square = 0; square < 6; ++square) sum *= sum;
  return sum;
}

/// Σ_j g_j · softmax(s)_j, where s_k has moved by `step`.
template <class T>
__host__ __device__ T loss(const float* s, const float* g, int k, T step) {
  T weights = 0, weighted = 0;
  for (int j = 0; j < kCols; ++j) {
    const T weight = exponential(static_cast<T>(s[j]) + (j == k ? step : T{0}));
    weights += weight;
    weighted = fma(weight, static_cast<T>(g[j]), weighted);  // said, so that no compiler chooses
  }
  return weighted / weights;
}

/// Both quotients for score threadIdx.x of row blockIdx.x. Shapes: S, dP, one_sided and central are
/// (kRows, kCols).
template <class T>
__global__ void differences_kernel(const float* S, const float* dP, T step, T* one_sided, T* central) {
  const int k = static_cast<int>(threadIdx.x), first = static_cast<int>(blockIdx.x) * kCols;
  const float *s = S + first, *g = dP + first;
  const T above = loss<T>(s, g, k, step), here = loss<T>(s, g, k, T{0}), below = loss<T>(s, g, k, -step);
  one_sided[first + k] = (above - here) / step;
  central[first + k] = (above - below) / (2 * step);
}

/// P ∘ (dP - rowsum(P ∘ dP)), in float64.
std::vector<double> gradient(const std::vector<float>& S, const std::vector<float>& dP) {
  std::vector<double> dS(kElements);
  for (std::size_t row = 0; row < kElements; row += kCols) {
    double weights = 0;
    for (std::size_t j = row; j < row + kCols; ++j) weights += exponential(static_cast<double>(S[j]));
    const double sum = loss<double>(&S[row], &dP[row], 0, 0);  // the sum of P ∘ dP is the loss itself
    for (std::size_t j = row; j < row + kCols; ++j)
      dS[j] = exponential(static_cast<double>(S[j])) / weights * (static_cast<double>(dP[j]) - sum);
  }
  return dS;
}

template <class T>
void print_error(const char* precision, const char* quotient, int log2, const T* got,
                 const std::vector<double>& expected) {
  double off = 0, all = 0;
  for (std::size_t i = 0; i < kElements; ++i) {
    const double difference = static_cast<double>(got[i]) - expected[i];
    off = fma(difference, difference, off), all = fma(expected[i], expected[i], all);
  }
  std::printf("%s,%s,%d,%.1e\n", precision, quotient, log2, std::sqrt(off / all));
}

template <class T>
void measure(const char* precision, int smallest_log2, const float* S, const float* dP,
             const std::vector<double>& expected) {
  T* quotients = nullptr;  // one-sided, then central
  CUDA_CHECK(cudaMallocManaged(&quotients, 2 * kElements * sizeof(T)));
  for (int log2 = 0; log2 >= smallest_log2; --log2) {
    differences_kernel<T>
        <<<kRows, kCols>>>(S, dP, static_cast<T>(std::ldexp(1.0, log2)), quotients, quotients + kElements);
    CUDA_CHECK(cudaDeviceSynchronize());
    print_error(precision, "one-sided", log2, quotients, expected);
    print_error(precision, "central", log2, quotients + kElements, expected);
  }
  CUDA_CHECK(cudaFree(quotients));
}

}  // namespace

int main() {
  std::vector<float> S(kElements), dP(kElements);
  for (std::uint32_t i = 0; i < kElements; ++i) {
    S[i] = 4 * number(i) - 2;
    dP[i] = 4 * number(i + kElements) - 2;
  }
  const std::vector<double> expected = gradient(S, dP);
  float* inputs = nullptr;  // S, then dP
  CUDA_CHECK(cudaMalloc(&inputs, 2 * kElements * sizeof(float)));
  CUDA_CHECK(cudaMemcpy(inputs, S.data(), kElements * sizeof(float), cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaMemcpy(inputs + kElements, dP.data(), kElements * sizeof(float), cudaMemcpyHostToDevice));
  std::printf("precision,quotient,log2_step,error\n");
  measure<float>("float32", -20, inputs, inputs + kElements, expected);
  measure<double>("float64", kSmallestLog2, inputs, inputs + kElements, expected);
  CUDA_CHECK(cudaFree(inputs));
}
