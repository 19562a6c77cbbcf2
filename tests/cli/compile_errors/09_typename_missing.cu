// cpu, line 14: The compiler does not know yet that Shape::Scores is a type: write typename Shape::Scores.

#include "flash2_forward.hpp"

#include <cuda_runtime.h>

#include "device/attention_tile.hpp"

namespace course {

template <class Shape>
__global__ void maximum_kernel(float* y) {
  typename Shape::Scores::Accumulator S_rmem = {};
  *y = device::max_of_row<Shape::Scores>(S_rmem, 0);
}

void launch(float* y) { maximum_kernel<device::AttentionShape<128, 64, 64>><<<1, 256>>>(y); }

}  // namespace course
