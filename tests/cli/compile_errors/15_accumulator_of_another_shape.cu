// both, line 23: multiply_add<Output> takes an A of Output::kRows rows, a B of Output::kCols rows and an
//   Output::Accumulator, in this order; what stands here is not all of these shapes, or it belongs to another
//   shape than Output.

#include "flash2_backward.hpp"

#include <cuda_runtime.h>

#include "device/attention_tile.hpp"
#include "device/tile_matmul.hpp"

namespace course {

using Shape = device::AttentionShape<64, 64, 128, 4>;

__global__ void queries_kernel(View<float, 2> dQ) {
  using Scores = Shape::Scores;
  using Output = Shape::Output;
  __shared__ Shape::PTile dS_smem;
  __shared__ Shape::VTile K_smem;
  Scores::Accumulator dS_rmem = {}, dQ_rmem = {};
  device::put_tile<Scores>(dS_rmem, dS_smem);
  device::multiply_add<Output>(dS_smem, K_smem, dQ_rmem);
  device::store_tile<Output>(dQ_rmem, dQ, 0, 0);
}

}  // namespace course
