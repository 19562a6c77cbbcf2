// One call of naive_attention on N queries and N keys in 64 dimensions; N is the program's argument.
// scripts/figure_naive_attention.py --measure joins it to the solution of lesson 07 and counts what it moves.

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <vector>

namespace {

constexpr std::int64_t kDim = 64;

/// A matrix of one batch and head in device memory, filled with numbers between -1 and 1.
template <class T>
course::View<T, 4> matrix(std::int64_t rows, std::int64_t cols) {
  std::vector<float> values(static_cast<std::size_t>(rows * cols));
  std::uint32_t bits = 1;
  for (float& value : values) {
    bits = bits * 1664525u + 1013904223u;
    value = static_cast<float>(bits >> 8) * 0x1p-23f - 1.0f;
  }
  float* data = nullptr;
  CUDA_CHECK(cudaMalloc(&data, values.size() * sizeof(float)));
  CUDA_CHECK(cudaMemcpy(data, values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice));
  return {data, {1, 1, rows, cols}, {rows * cols, rows * cols, cols, 1}};
}

}  // namespace

int main(int, char** arguments) {
  const std::int64_t N = std::atoll(arguments[1]);
  const auto Q = matrix<const float>(N, kDim), K = matrix<const float>(N, kDim),
             V = matrix<const float>(N, kDim);
  const auto S = matrix<float>(N, N), P = matrix<float>(N, N), O = matrix<float>(N, kDim);
  course::naive_attention(Q, K, V, S, P, O, 1.0f / std::sqrt(static_cast<float>(kDim)));
  CUDA_CHECK(cudaDeviceSynchronize());
  for (const float* data : {Q.data, K.data, V.data}) CUDA_CHECK(cudaFree(const_cast<float*>(data)));
  for (float* data : {S.data, P.data, O.data}) CUDA_CHECK(cudaFree(data));
}
