// One call of an attention lesson's entry on N queries and N keys in 64 dimensions; N is the program's
// argument. scripts/figure_flash1_forward.py --measure joins it to the solutions of lessons 07, 08 and 09 in
// turn, writes each one's call where main() names it, and counts what moves.

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <vector>

namespace {

constexpr std::int64_t kDim = 64;

/// Device memory with numbers between -1 and 1.
float* numbers(std::int64_t size) {
  std::vector<float> values(static_cast<std::size_t>(size));
  std::uint32_t bits = 1;
  for (float& value : values) {
    bits = bits * 1664525u + 1013904223u;
    value = static_cast<float>(bits >> 8) * 0x1p-23f - 1.0f;
  }
  float* data = nullptr;
  CUDA_CHECK(cudaMalloc(&data, values.size() * sizeof(float)));
  CUDA_CHECK(cudaMemcpy(data, values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice));
  return data;
}

/// A matrix of one batch and head.
template <class T>
course::View<T, 4> matrix(std::int64_t rows, std::int64_t cols) {
  return {numbers(rows * cols), {1, 1, rows, cols}, {rows * cols, rows * cols, cols, 1}};
}

course::View<float, 3> row(std::int64_t size) { return {numbers(size), {1, 1, size}, {size, size, 1}}; }

}  // namespace

int main(int, char** arguments) {
  const std::int64_t N = std::atoll(arguments[1]);
  const auto Q = matrix<const float>(N, kDim), K = matrix<const float>(N, kDim),
             V = matrix<const float>(N, kDim);
  const auto S = matrix<float>(N, N), P = matrix<float>(N, N), O = matrix<float>(N, kDim);
  const auto l = row(N), m = row(N), lse = row(N);
  const float scale = 1.0f / std::sqrt(static_cast<float>(kDim));
  // the call
  CUDA_CHECK(cudaDeviceSynchronize());
  for (const float* data : {Q.data, K.data, V.data}) CUDA_CHECK(cudaFree(const_cast<float*>(data)));
  for (float* data : {S.data, P.data, O.data, l.data, m.data, lse.data}) CUDA_CHECK(cudaFree(data));
}
