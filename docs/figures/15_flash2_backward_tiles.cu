// Which pairs of tiles the two kernels of lesson 15 visit, found out from what they give, for 512 queries and
// as many keys in 64 dimensions. The program's argument says whether they are causal; a second one asks for a
// single call, to be counted. scripts/figure_flash2_backward.py --measure joins it to the solution, and runs
// it in the simulator.

#include <cstdio>
#include <limits>
#include <vector>

namespace {

constexpr std::int64_t kSize = 512, kTile = 64, kTiles = kSize / kTile, kDims = 64;

float* copy_of(const std::vector<float>& values) {
  float* data = nullptr;
  CUDA_CHECK(cudaMalloc(&data, values.size() * sizeof(float)));
  CUDA_CHECK(cudaMemcpy(data, values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice));
  return data;
}

template <class T>
course::View<T, 4> matrix(T* data) {
  return {data, {1, 1, kSize, kDims}, {kSize * kDims, kSize * kDims, kDims, 1}};
}

template <class T>
course::View<T, 3> row(T* data) {
  return {data, {1, 1, kSize}, {kSize, kSize, 1}};
}

struct Gradients {
  std::vector<float> dQ, dV;
};

/// All is 0 but the tile of K, or of dO, that begins at `first`: there it is NaN.
Gradients with_nan(bool in_K, std::int64_t first, bool causal) {
  const std::vector<float> zeros(kSize * kDims, 0.0f);
  std::vector<float> marked = zeros;
  for (std::int64_t e = first * kDims; e < (first + kTile) * kDims; ++e)
    marked[static_cast<std::size_t>(e)] = std::numeric_limits<float>::quiet_NaN();
  float *Q = copy_of(zeros), *K = copy_of(in_K ? marked : zeros), *V = copy_of(zeros), *O = copy_of(zeros),
        *dO = copy_of(in_K ? zeros : marked), *lse = copy_of(zeros), *delta = copy_of(zeros),
        *dQ = copy_of(zeros), *dK = copy_of(zeros), *dV = copy_of(zeros);
  using Input = const float;
  course::flash2_backward(matrix<Input>(Q), matrix<Input>(K), matrix<Input>(V), matrix<Input>(O),
                          row<Input>(lse), matrix<Input>(dO), row(delta), matrix(dQ), matrix(dK), matrix(dV),
                          1.0f, causal);
  Gradients got{zeros, zeros};
  CUDA_CHECK(cudaMemcpy(got.dQ.data(), dQ, zeros.size() * sizeof(float), cudaMemcpyDeviceToHost));
  CUDA_CHECK(cudaMemcpy(got.dV.data(), dV, zeros.size() * sizeof(float), cudaMemcpyDeviceToHost));
  for (float* data : {Q, K, V, O, dO, lse, delta, dQ, dK, dV}) CUDA_CHECK(cudaFree(data));
  return got;
}

/// How many of a tile's rows have NaN in column 0.
int rows_with_nan(const std::vector<float>& x, std::int64_t tile) {
  int rows = 0;
  for (std::int64_t i = tile * kTile; i < (tile + 1) * kTile; ++i)
    rows += std::isnan(x[static_cast<std::size_t>(i * kDims)]) ? 1 : 0;
  return rows;
}

}  // namespace

/// A weight of 0 times NaN is NaN. So the rows of dV that are NaN belong to the blocks of keys_kernel that
/// met the marked rows of dO, hidden or not; the rows of dQ that are NaN to those of queries_kernel that met
/// the marked rows of K.
int main(int, char** arguments) {
  const bool causal = arguments[1][0] == 'c';
  if (arguments[2] != nullptr) {  // one call, to be counted
    with_nan(false, 0, causal);
    return 0;
  }
  for (std::int64_t tile = 0; tile < kTiles; ++tile) {
    const Gradients of_dO = with_nan(false, tile * kTile, causal),
                    of_K = with_nan(true, tile * kTile, causal);
    for (std::int64_t other = 0; other < kTiles; ++other) {
      std::printf("keys_kernel,%d,%d,%d,%d\n", causal, static_cast<int>(tile), static_cast<int>(other),
                  rows_with_nan(of_dO.dV, other));
      std::printf("queries_kernel,%d,%d,%d,%d\n", causal, static_cast<int>(other), static_cast<int>(tile),
                  rows_with_nan(of_K.dQ, other));
    }
  }
}
