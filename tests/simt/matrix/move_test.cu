// Matrices of 8 x 8 elements of 16 bits between registers and shared memory.

#include <vector>

#include "../runtime/support.hpp"
#include "simt_matrix.h"

namespace {

constexpr int kPitch = 40;  // elements of a row: 80 bytes, a multiple of 16

/// Loads kMatrices of a tile of 8 * kMatrices rows, and stores them in a second tile of zeros.
template <int kMatrices, bool kTransposed>
__global__ void move_kernel(unsigned* registers, unsigned short* stored) {
  __shared__ alignas(16) unsigned short tile[32][kPitch], copy[32][kPitch];
  const unsigned lane = threadIdx.x;
  for (int col = 0; col < kPitch; ++col) {
    tile[lane][col] = static_cast<unsigned short>(100 * lane + static_cast<unsigned>(col));
    copy[lane][col] = 0;
  }
  __syncwarp();
  unsigned of_lane[kMatrices];
  if constexpr (kTransposed)
    simt::ldmatrix_trans(of_lane, &tile[lane][8]);
  else
    simt::ldmatrix(of_lane, &tile[lane][8]);
  for (int i = 0; i < kMatrices; ++i) registers[32 * i + static_cast<int>(lane)] = of_lane[i];
  if constexpr (kTransposed)
    simt::stmatrix_trans(&copy[lane][16], of_lane);
  else
    simt::stmatrix(&copy[lane][16], of_lane);
  __syncwarp();
  for (int col = 0; col < kPitch; ++col) stored[static_cast<int>(lane) * kPitch + col] = copy[lane][col];
}

__global__ void transpose_kernel(unsigned* registers) {
  registers[threadIdx.x] = simt::movmatrix(registers[threadIdx.x]);
}

/// Element (row, col) of matrix i.
unsigned element(int matrix, int row, int col) {
  return static_cast<unsigned>(100 * (8 * matrix + row) + col + 8);
}

template <int kMatrices, bool kTransposed>
void require_moves() {
  unsigned* registers = device_array<unsigned>(32 * kMatrices, 0u);
  unsigned short* stored = device_array<unsigned short>(32 * kPitch, static_cast<unsigned short>(1));
  move_kernel<kMatrices, kTransposed><<<1, 32>>>(registers, stored);
  const auto of_lanes = to_host(registers, 32 * kMatrices);
  for (int matrix = 0; matrix < kMatrices; ++matrix)
    for (int lane = 0; lane < 32; ++lane) {
      const int line = lane / 4, first = 2 * (lane % 4);
      const unsigned low = kTransposed ? element(matrix, first, line) : element(matrix, line, first);
      const unsigned high = kTransposed ? element(matrix, first + 1, line) : element(matrix, line, first + 1);
      INFO("matrix " << matrix << ", lane " << lane);
      REQUIRE(of_lanes[static_cast<std::size_t>(32 * matrix + lane)] == (low | high << 16));
    }
  const auto rows = to_host(stored, 32 * kPitch);
  for (int row = 0; row < 32; ++row)
    for (int col = 0; col < kPitch; ++col) {
      const bool moved = row < 8 * kMatrices && col >= 16 && col < 24;
      INFO("row " << row << ", column " << col);
      REQUIRE(rows[static_cast<std::size_t>(row * kPitch + col)] ==
              (moved ? element(row / 8, row % 8, col - 16) : 0));
    }
}

}  // namespace

TEST_CASE_METHOD(FreshDevice, "ldmatrix gives each lane two neighbours of a row, and stmatrix puts them back",
                 "[simt][matrix]") {
  require_moves<1, false>();
  require_moves<2, false>();
  require_moves<4, false>();
}

TEST_CASE_METHOD(
    FreshDevice,
    "ldmatrix.trans gives each lane two neighbours of a column, and stmatrix.trans puts them back",
    "[simt][matrix]") {
  require_moves<1, true>();
  require_moves<2, true>();
  require_moves<4, true>();
}

TEST_CASE_METHOD(FreshDevice, "movmatrix transposes a matrix in registers", "[simt][matrix]") {
  std::vector<unsigned> in(32);
  for (int lane = 0; lane < 32; ++lane)
    in[static_cast<std::size_t>(lane)] =
        element(0, lane / 4, 2 * (lane % 4)) | element(0, lane / 4, 2 * (lane % 4) + 1) << 16;
  unsigned* registers = device_array<unsigned>(32);
  REQUIRE(cudaMemcpy(registers, in.data(), 32 * sizeof(unsigned), cudaMemcpyHostToDevice) == cudaSuccess);
  transpose_kernel<<<1, 32>>>(registers);
  const auto out = to_host(registers, 32);
  for (int lane = 0; lane < 32; ++lane) {
    INFO("lane " << lane);
    REQUIRE(out[static_cast<std::size_t>(lane)] ==
            (element(0, 2 * (lane % 4), lane / 4) | element(0, 2 * (lane % 4) + 1, lane / 4) << 16));
  }
}
