// Records what happens to a row in lesson 09's kernel while 8 tiles of 64 keys pass by, for the lesson's
// figure. Prints CSV: first the scores of the row, "score,key,value", then for each tile
// "tile,number,m,rescale,l_rescaled,l,O_rescaled,O", where O is one of its elements, not yet divided by l.
// scripts/figure_flash2_forward.py draws it.

#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "device/attention_tile.hpp"
#include "device/cuda_check.hpp"
#include "device/reduce.hpp"
#include "device/tile_matmul.hpp"

using namespace course;

namespace {

using Shape = device::AttentionShape<32, 64, 64>;
using Scores = Shape::Scores;
using Output = Shape::Output;
constexpr int kKeys = 512, kTiles = kKeys / Shape::kBlockN, kRow = 9, kElement = 2;
constexpr float kScale = 0.25f;

struct Step {
  float m, rescale, l_rescaled, l, O_rescaled, O;
};

/// A number that looks random, with a bell-shaped distribution of standard deviation 1.
float number(std::uint32_t i) {
  float sum = 0.0f;
  for (std::uint32_t j = 0; j < 12; ++j) {
    std::uint32_t bits = (12 * i + j) * 2654435761u + 2132u;
    bits = (bits ^ bits >> 16) * 2246822519u;
    bits = (bits ^ bits >> 13) * 3266489917u;
    sum += static_cast<float>((bits ^ bits >> 16) >> 8) * 0x1p-24f;
  }
  return sum - 6.0f;
}

/// The loop of the lesson. Shapes: Q is (32, 64), K and V are (kKeys, 64), S is (kKeys), steps is (kTiles).
__global__ void record_kernel(View<const float, 2> Q, View<const float, 2> K, View<const float, 2> V,
                              float* S, Step* steps) {
  __shared__ Shape::QTile Q_smem;
  __shared__ union {
    Shape::KTile K;
    Shape::PTile P;
  } smem;
  __shared__ Shape::VTile V_smem;
  device::load_tile<Shape::kThreads>(Q, 0, 0, Q_smem);
  Output::Accumulator O_rmem = {};
  float m[Shape::kThreadRows], l[Shape::kThreadRows] = {};
  for (float& m_i : m) m_i = -INFINITY;

  for (int tile = 0; tile < kTiles; ++tile) {
    __syncthreads();
    device::load_tile<Shape::kThreads>(K, tile * Shape::kBlockN, 0, smem.K);
    device::load_tile<Shape::kThreads>(device::transposed(V), 0, tile * Shape::kBlockN, V_smem);
    __syncthreads();
    Scores::Accumulator S_rmem = {};
    device::multiply_add<Scores>(Q_smem, smem.K, S_rmem);
    for (auto& row : S_rmem) {
      for (float& s : row) s *= kScale;
    }
    for (int i = 0; i < Shape::kThreadRows; ++i) {
      const bool recorded = Scores::row(i) == kRow;
      if (recorded) {
        for (int j = 0; j < Scores::kThreadCols; ++j)
          S[tile * Shape::kBlockN + Scores::col(j)] = S_rmem[i][j];
      }
      const float m_new = fmaxf(m[i], device::max_of_row<Scores>(S_rmem, i));
      const float rescale = expf(m[i] - m_new);
      for (float& o : O_rmem[i]) o *= rescale;
      l[i] *= rescale;
      m[i] = m_new;
      const float l_rescaled = device::sum_warp<Shape::kThreadsAcross>(l[i]);
      for (float& s : S_rmem[i]) {
        s = expf(s - m_new);
        l[i] += s;
      }
      const float l_now = device::sum_warp<Shape::kThreadsAcross>(l[i]);
      if (recorded && Output::thread_across() == 0)
        steps[tile] = {m_new, rescale, l_rescaled, l_now, O_rmem[i][kElement], 0.0f};
    }
    __syncthreads();
    device::put_tile<Scores>(S_rmem, smem.P);
    __syncwarp();
    device::multiply_add<Output>(smem.P, V_smem, O_rmem);
    for (int i = 0; i < Shape::kThreadRows; ++i)
      if (Scores::row(i) == kRow && Output::thread_across() == 0) steps[tile].O = O_rmem[i][kElement];
  }
}

/// A matrix of such numbers in device memory, from number `first` on.
View<const float, 2> matrix(std::int64_t rows, std::uint32_t first) {
  std::vector<float> values(static_cast<std::size_t>(rows * Shape::kDim));
  for (float& value : values) value = number(first++);
  float* data = nullptr;
  CUDA_CHECK(cudaMalloc(&data, values.size() * sizeof(float)));
  CUDA_CHECK(cudaMemcpy(data, values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice));
  return {data, {rows, Shape::kDim}, {Shape::kDim, 1}};
}

}  // namespace

int main() {
  const View<const float, 2> Q = matrix(32, 0), K = matrix(kKeys, 10'000), V = matrix(kKeys, 100'000);
  float *S_device = nullptr, S[kKeys];
  Step *steps_device = nullptr, steps[kTiles];
  CUDA_CHECK(cudaMalloc(&S_device, sizeof(S)));
  CUDA_CHECK(cudaMalloc(&steps_device, sizeof(steps)));
  record_kernel<<<1, Shape::kThreads>>>(Q, K, V, S_device, steps_device);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaMemcpy(S, S_device, sizeof(S), cudaMemcpyDeviceToHost));
  CUDA_CHECK(cudaMemcpy(steps, steps_device, sizeof(steps), cudaMemcpyDeviceToHost));
  for (const View<const float, 2>& X : {Q, K, V}) CUDA_CHECK(cudaFree(const_cast<float*>(X.data)));
  CUDA_CHECK(cudaFree(S_device));
  CUDA_CHECK(cudaFree(steps_device));
  for (int key = 0; key < kKeys; ++key) std::printf("score,%d,%.3f\n", key, S[key]);
  for (int tile = 0; tile < kTiles; ++tile)
    std::printf("tile,%d,%.3f,%.3f,%.3f,%.3f,%.3f,%.3f\n", tile, steps[tile].m, steps[tile].rescale,
                steps[tile].l_rescaled, steps[tile].l, steps[tile].O_rescaled, steps[tile].O);
}
