// both, line 19: put_tile<Output> takes an Output::Accumulator: what stands here is none.

#include "flash2_backward.hpp"

#include <cuda_runtime.h>

#include "device/attention_tile.hpp"
#include "device/tile_matmul.hpp"

namespace course {

using Shape = device::AttentionShape<64, 64, 128, 4>;

__global__ void queries_kernel() {
  using Scores = Shape::Scores;
  using Output = Shape::Output;
  __shared__ Shape::PTile dS_smem;
  Scores::Accumulator dS_rmem = {};
  device::put_tile<Output>(dS_rmem, dS_smem);
}

}  // namespace course
