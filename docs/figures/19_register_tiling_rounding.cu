// Measures what three ways to take powers of 2 cost at large scores, for the figure of lesson 19. Prints CSV:
// way,score,lse,output, where lse and output are the largest error over 256 rows of lse and of a weighted
// mean of values between -1 and 1, against float64. scripts/figure_register_tiling.py draws it.

#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "device/cuda_check.hpp"

namespace {

constexpr int kRows = 256, kKeys = 64;
constexpr float kScale = 0.0913f;  // its product with log2 e loses most by rounding

enum class Way { scaled_first, one_fmaf, difference_first };

/// A number in [-1, 1) that looks random.
float number(std::uint32_t i) {
  i = (i ^ i >> 16) * 2246822519u;
  i = (i ^ i >> 13) * 3266489917u;
  return static_cast<float>((i ^ i >> 16) >> 8) * 0x1p-23f - 1.0f;
}

/// lse and the weighted mean of V of a row for each thread. Shapes: S, products that are not scaled, and V
/// are (rows, kKeys), lse and output are (rows).
template <Way kWay>
__global__ void rows_kernel(const float* S, const float* V, float* lse, float* output, int rows) {
  const int row = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (row >= rows) return;
  const float* S_row = S + row * kKeys;
  const float* V_row = V + row * kKeys;
  const float to_log2 = kScale * 1.44269504f;
  float m = -INFINITY, l = 0.0f, sum = 0.0f;
  for (int key = 0; key < kKeys; ++key) m = fmaxf(m, S_row[key]);
  for (int key = 0; key < kKeys; ++key) {
    float exponent = 0.0f;
    if (kWay == Way::scaled_first) {
      const volatile float s_log2 = S_row[key] * to_log2,
                           m_log2 = m * to_log2;  // volatile: rounded, and not fused
      exponent = s_log2 - m_log2;
    } else if (kWay == Way::one_fmaf) {
      const volatile float m_log2 = m * to_log2;
      exponent = fmaf(S_row[key], to_log2, -m_log2);
    } else {
      exponent = (S_row[key] - m) * to_log2;
    }
    const float P = exp2f(exponent);
    l += P;
    sum = fmaf(P, V_row[key], sum);
  }
  if (kWay == Way::difference_first) {
    lse[row] = fmaf(m, kScale, logf(l));
  } else {
    lse[row] = fmaf(m, to_log2, log2f(l)) * 0.693147181f;
  }
  output[row] = sum / l;
}

struct Errors {
  double lse = 0, output = 0;
};

Errors errors_of(const std::vector<float>& S, const std::vector<float>& V, const std::vector<float>& lse,
                 const std::vector<float>& output) {
  Errors most;
  for (std::size_t row = 0; row < kRows; ++row) {
    double m = -INFINITY, l = 0, sum = 0;
    const auto score = [&](std::size_t key) {
      return static_cast<double>(S[row * kKeys + key]) * double{kScale};
    };
    for (std::size_t key = 0; key < kKeys; ++key) m = std::fmax(m, score(key));
    for (std::size_t key = 0; key < kKeys; ++key) {
      const double P = std::exp(score(key) - m);
      l += P;
      sum += P * static_cast<double>(V[row * kKeys + key]);
    }
    most.lse = std::fmax(most.lse, std::abs(static_cast<double>(lse[row]) - (m + std::log(l))));
    most.output = std::fmax(most.output, std::abs(static_cast<double>(output[row]) - sum / l));
  }
  return most;
}

template <Way kWay>
void measure(const char* name, float score) {
  std::vector<float> S(kRows * kKeys), V(kRows * kKeys), lse(kRows), output(kRows);
  for (std::size_t i = 0; i < S.size(); ++i) {
    S[i] = (score + 2.0f * number(static_cast<std::uint32_t>(i) + 1)) / kScale;
    V[i] = number(static_cast<std::uint32_t>(i) + 100'000'000);
  }
  float *S_device = nullptr, *V_device = nullptr, *results = nullptr;
  const std::size_t bytes = S.size() * sizeof(float);
  CUDA_CHECK(cudaMalloc(&S_device, bytes));
  CUDA_CHECK(cudaMalloc(&V_device, bytes));
  CUDA_CHECK(cudaMalloc(&results, 2 * kRows * sizeof(float)));
  CUDA_CHECK(cudaMemcpy(S_device, S.data(), bytes, cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaMemcpy(V_device, V.data(), bytes, cudaMemcpyHostToDevice));
  rows_kernel<kWay><<<kRows / 64, 64>>>(S_device, V_device, results, results + kRows, kRows);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaMemcpy(lse.data(), results, kRows * sizeof(float), cudaMemcpyDeviceToHost));
  CUDA_CHECK(cudaMemcpy(output.data(), results + kRows, kRows * sizeof(float), cudaMemcpyDeviceToHost));
  for (float* array : {S_device, V_device, results}) CUDA_CHECK(cudaFree(array));
  const Errors most = errors_of(S, V, lse, output);
  std::printf("%s,%g,%.1e,%.1e\n", name, static_cast<double>(score), most.lse, most.output);
}

}  // namespace

int main() {
  std::printf("way,score,lse,output\n");
  for (float score = 4.0f; score <= 4096.0f; score *= 4.0f) {
    measure<Way::scaled_first>("scaled_first", 0.97f * score);
    measure<Way::one_fmaf>("one_fmaf", 0.97f * score);
    measure<Way::difference_first>("difference_first", 0.97f * score);
  }
  return 0;
}
