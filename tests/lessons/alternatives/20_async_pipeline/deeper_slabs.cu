// Alternative for lesson 20: slabs of 16 steps of k, so that barriers are half as many, in dynamic shared
// memory; and the pipeline as a class, whose batches have numbers.

#include "async_pipeline.hpp"

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <stdexcept>

#include "device/cuda_check.hpp"
#include "device/tile_matmul.hpp"

namespace course {
namespace {

using Shape = device::TileShape<128, 128, 16, 8, 8>;
constexpr int kThreads = Shape::kThreads;

/// A row of four a thread; the last batches are empty.
__global__ void copy_kernel(const float* x, float* y, std::int64_t n, int stages) {
  __shared__ float4 x_smem[kMaxStages][kCopyTile / 4];
  nvcuda::experimental::pipeline pipeline;
  const std::int64_t own = 4 * std::int64_t{threadIdx.x}, step = gridDim.x * kCopyTile;
  std::int64_t fetched = blockIdx.x * kCopyTile + own, stored = fetched;
  int next = 0, now = 0;
  const auto fetch = [&] {
    float* to = &x_smem[next][threadIdx.x].x;
    if (fetched + 4 <= n) {
      nvcuda::experimental::memcpy_async(*reinterpret_cast<float4*>(to),
                                         *reinterpret_cast<const float4*>(&x[fetched]), pipeline);
    } else {
      for (std::int64_t i = fetched; i < n; ++i)
        __pipeline_memcpy_async(&to[i - fetched], &x[i], sizeof(float));
    }
    fetched += step;
    next = (next + 1) % stages;
    return pipeline.commit();
  };
  for (int ahead = 1; ahead < stages; ++ahead) fetch();
  for (; stored < n; stored += step) {
    const std::size_t last = fetch();
    pipeline.wait(last - (stages - 1) +
                  1);  // by CUDA's header, wait(batch) leaves that batch itself under way
    if (stored + 4 <= n) {
      *reinterpret_cast<float4*>(&y[stored]) = x_smem[now][threadIdx.x];
    } else {
      for (std::int64_t i = stored; i < n; ++i) y[i] = (&x_smem[now][threadIdx.x].x)[i - stored];
    }
    now = (now + 1) % stages;
  }
}

struct Stage {
  Shape::ATile A;
  Shape::BTile B;
};

/// Four numbers in one copy where they lie side by side, else one.
template <class Tile>
__device__ void fetch_slab(const View<const float, 2>& X, std::int64_t first_row, std::int64_t first_k,
                           Tile& to) {
  const bool in_fours = X.strides[0] == 1 && X.strides[1] % 4 == 0 && X.shape[0] % 4 == 0 &&
                        reinterpret_cast<std::uintptr_t>(X.data) % 16 == 0;
  const bool along_k = X.strides[1] < X.strides[0];
  const int each = in_fours ? 4 : 1;
  for (int e = each * static_cast<int>(threadIdx.x); e < 128 * 16; e += each * kThreads) {
    const int i = along_k ? e / 8 % 128 : e % 128, k = along_k ? e % 8 + e / 1024 * 8 : e / 128;
    const bool inside = first_row + i < X.shape[0] && first_k + k < X.shape[1];
    const float* const from = inside ? &X(first_row + i, first_k + k) : X.data;
    if (in_fours)
      __pipeline_memcpy_async(&to.at[k][i], from, 16, inside ? 0 : 16);
    else
      __pipeline_memcpy_async(&to.at[k][i], from, 4, inside ? 0 : 4);
  }
}

template <int kStages>
__global__ void __launch_bounds__(kThreads)
    matmul_kernel(View<const float, 2> A, View<const float, 2> B, View<float, 2> C, unsigned across) {
  extern __shared__ float4 memory[];
  Stage* stages = reinterpret_cast<Stage*>(memory);
  const std::int64_t row = std::int64_t{blockIdx.x / across} * 128,
                     col = std::int64_t{blockIdx.x % across} * 128;
  const std::int64_t slabs = (A.shape[1] + 15) / 16;
  const auto fetch = [&](std::int64_t slab) {
    if (slab < slabs) {
      fetch_slab(A, row, slab * 16, stages[slab % kStages].A);
      fetch_slab(device::transposed(B), col, slab * 16, stages[slab % kStages].B);
    }
    __pipeline_commit();
  };
  for (int slab = 0; slab < kStages - 1; ++slab) fetch(slab);
  Shape::Accumulator acc = {};
  for (std::int64_t slab = 0; slab < slabs; ++slab) {
    __pipeline_wait_prior(kStages - 2);
    __syncthreads();
    fetch(slab + kStages - 1);
    device::multiply_add<Shape>(stages[slab % kStages].A, stages[slab % kStages].B, acc);
  }
  device::store_tile<Shape>(acc, C, row, col);
}

template <int kStages>
void launch(View<const float, 2> A, View<const float, 2> B, View<float, 2> C) {
  const std::int64_t across = (C.shape[1] - 1) / 128 + 1, down = (C.shape[0] - 1) / 128 + 1;
  constexpr int kBytes = kStages * sizeof(Stage);
  const auto kernel = matmul_kernel<kStages>;
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
  kernel<<<static_cast<unsigned>(across * down), kThreads, kBytes>>>(A, B, C, static_cast<unsigned>(across));
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace

void copy_through_shared(const float* x, float* y, std::int64_t n, int stages, int blocks) {
  if (n < 0) throw std::invalid_argument("n is negative");
  if (stages < 1 || stages > kMaxStages) throw std::invalid_argument("stages is not 1 to 4");
  if (blocks < 1) throw std::invalid_argument("blocks is less than 1");
  if (n == 0) return;
  const std::int64_t tiles = (n - 1) / kCopyTile + 1;
  copy_kernel<<<static_cast<unsigned>(tiles < blocks ? tiles : blocks), kCopyTile / 4>>>(x, y, n, stages);
  CUDA_CHECK(cudaGetLastError());
}

void matmul_staged(View<const float, 2> A, View<const float, 2> B, View<float, 2> C, int stages) {
  if (B.shape[0] != A.shape[1]) throw std::invalid_argument("B has not as many rows as A has columns");
  if (C.shape[0] != A.shape[0] || C.shape[1] != B.shape[1])
    throw std::invalid_argument("C has not the shape of the product");
  if (C.shape[0] == 0 || C.shape[1] == 0) {
    if (stages < 2 || stages > kMaxStages) throw std::invalid_argument("stages is not 2 to 4");
    return;
  }
  switch (stages) {
    case 2:
      return launch<2>(A, B, C);
    case 3:
      return launch<3>(A, B, C);
    case 4:
      return launch<4>(A, B, C);
    default:
      throw std::invalid_argument("stages is not 2 to 4");
  }
}

}  // namespace course
