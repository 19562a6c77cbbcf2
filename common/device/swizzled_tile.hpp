#pragma once
/// @file
/// Tiles of 16-bit numbers in shared memory from which tensor cores are fed: what lesson 21 builds, for every
/// kernel to use.
///
///     using Tile = SwizzledTile<T, 64, 128>;               // 64 keys of 128 numbers
///     __shared__ Tile K_smem;
///     send_tile<kThreads>(K_smem, K, first_key, 0);        // cp.async; then commit, wait, barrier
///     const OperandB<Tile, Major::k> keys;                 // S = Q·Kᵀ sums along a key
///     keys.read(K_smem, 16 * j, k, b[2 * j], b[2 * j + 1]);
///
/// Nothing indexes a tile but send_tile() and the operands, which agree on the swizzle. An operand says by
/// its type what it is of, A or B, and along which axis of the product the tile's lines lie: the same tile of
/// K is B with lines along k in Q·Kᵀ, and B with lines along the columns in dS·K.

#include <cuda_runtime.h>

#include <cstdint>

#include "device/async_copy.hpp"
#include "device/float16.hpp"
#include "device/tensor_core.hpp"
#include "tensor/view.hpp"

namespace course::device {

/// @brief kLines lines of kLength numbers, in chunks of 16 bytes. A line's number changes the places of its
/// chunks, so that the same chunk of 8 lines below each other lies in 32 different banks. Dynamic shared
/// memory that holds such tiles is declared with their alignment, __align__(1024).
template <class T, int kLines_, int kLength_>
class alignas(1024) SwizzledTile {
 public:
  using Number = T;
  static constexpr int kLines = kLines_, kLength = kLength_;
  static constexpr int kChunks = kLength / 8, kLineBytes = 2 * kLength;  ///< of a line
  static_assert(sizeof(T) == 2 && kLines % 8 == 0);
  static_assert(kChunks >= 2 && (kChunks & (kChunks - 1)) == 0, "16, 32, 64 ... numbers in a line");

  /// Numbers `at`, even, and the next of a line are these. All who read what was there have done so.
  __device__ void put_two(int line, int at, pair_of<T> pair) {
    words_[place(line, at) / 4 + static_cast<unsigned>(at % 8 / 2)] = word_of(pair);
  }
  /// The 8 numbers of a line from `at` on, a multiple of 8.
  __device__ const uint4& chunk(int line, int at) const {
    return *reinterpret_cast<const uint4*>(&words_[place(line, at) / 4]);
  }

  /// How many bytes from the beginning number `at` of a line lies. `at` counts numbers, and is a multiple
  /// of 8. Lines that are shorter than 128 bytes share the 32 banks: as many of them as do have their chunks
  /// at the same places.
  __device__ static std::uint32_t place(int line, int at) {
    constexpr int kTurns = kChunks < 8 ? kChunks : 8, kSame = 8 / kTurns;
    return static_cast<std::uint32_t>(line * kLineBytes + (at / 8 ^ line / kSame % kTurns) * 16);
  }

 private:
  std::uint32_t words_[kLines * kLength / 2];
};

/// @brief Sends for the piece of X that begins at (first_line, first_at), with zeros outside X, by all
/// kThreads threads of the block, of which this is `thread`.
///
/// Shapes: X is (lines, length), with stride 1 along a line; it passes require_chunks() of views.hpp, and
/// first_at is a multiple of 8.
///
/// Barriers: none. Before the call, all threads must have finished with what the tile held; after
/// wait_for_copies() and a barrier it can be read.
///
/// Cost:   a copy of 16 bytes for each chunk; a warp sends for neighbours.
template <int kThreads, class T, int kLines, int kLength>
__device__ void send_tile(SwizzledTile<T, kLines, kLength>& tile, const View<const T, 2>& X,
                          std::int64_t first_line, std::int64_t first_at,
                          int thread = static_cast<int>(threadIdx.x)) {
  using Tile = SwizzledTile<T, kLines, kLength>;
  constexpr int kStep = kThreads / Tile::kChunks;  // lines that all threads cover with a chunk each
  static_assert(kThreads % Tile::kChunks == 0 && kLines % kStep == 0, "threads share the tile evenly");
  const int line = thread / Tile::kChunks, at = thread % Tile::kChunks * 8;
  const auto lines_left = static_cast<int>(min(X.shape[0] - first_line - line, std::int64_t{kLines}));
  const bool in_line = first_at + at < X.shape[1];
  const T* from = X.data + (first_line + line) * X.strides[0] + first_at + at;
  constexpr bool kSameTurn = kStep % 8 == 0;  // a thread's chunks lie at the same places of all of its lines
  const std::uint32_t tile_address = shared_address(&tile), to = tile_address + Tile::place(line, at);
#pragma unroll
  for (int i = 0; i < kLines; i += kStep) {
    copy_async(kSameTurn ? to + i * Tile::kLineBytes : tile_address + Tile::place(line + i, at), from,
               in_line && i < lines_left);
    from += kStep * X.strides[0];
  }
}

/// @brief X[first_row + i] = line first_line + i of the tile, for kCount lines, as far as X has such rows and
/// numbers; by one warp, 16 bytes a lane.
///
/// Shapes: X is (rows, length), with stride 1 along a row; rows begin at multiples of 16 bytes, and length is
/// a multiple of 8.
///
/// Barriers: none. Whoever wrote the lines has met this warp since.
template <int kCount, class T, int kLines, int kLength>
__device__ void store_lines(const SwizzledTile<T, kLines, kLength>& tile, int first_line, const View<T, 2>& X,
                            std::int64_t first_row) {
  using Tile = SwizzledTile<T, kLines, kLength>;
  static_assert(kCount * Tile::kChunks % 32 == 0, "lanes share the chunks evenly");
#pragma unroll
  for (int i = static_cast<int>(threadIdx.x) % 32; i < kCount * Tile::kChunks; i += 32) {
    const int line = i / Tile::kChunks, at = i % Tile::kChunks * 8;
    if (first_row + line < X.shape[0] && at < X.shape[1])
      *reinterpret_cast<uint4*>(&X(first_row + line, at)) = tile.chunk(first_line + line, at);
  }
}

/// Along which axis of a product a tile's lines lie: k, which is summed over, or the rows of A (columns of
/// B).
enum class Major { k, rows };

/// @brief How a lane reads an operand in squares of 16 rows (columns of B) x 16 steps of k, each with one
/// ldmatrix. The lane's place is computed once; from square to square it moves by an exclusive or along a
/// line, and by an addition from line to line.
///
/// kSecondAlongK: of a square's four 8 x 8 matrices, the second is 8 steps of k further and the third 8 rows;
/// if not, the other way round.
template <class Tile, Major kMajor, bool kSecondAlongK>
class Operand {
 public:
  /// The warp's rows begin at first_row, a multiple of the power of two that they all fit in.
  __device__ explicit Operand(int first_row) {
    const int lane = static_cast<int>(threadIdx.x) % 32, second = lane / 8 % 2 * 8, third = lane / 16 * 8;
    const int row = first_row + (kSecondAlongK ? third : second), k = kSecondAlongK ? second : third;
    place_ = kMajor == Major::k ? Tile::place(row + lane % 8, k) : Tile::place(k + lane % 8, row);
  }

 protected:
  __device__ void read_square(const Tile& tile, int row, int k, std::uint32_t (&matrices)[4]) const {
    const int along = kMajor == Major::k ? k : row, down = kMajor == Major::k ? row : k;
    const std::uint32_t address = ((shared_address(&tile) + place_) ^ 2 * along) + down * Tile::kLineBytes;
    if constexpr (kMajor == Major::k)
      load_matrices(address, matrices);
    else
      load_matrices_transposed(address, matrices);
  }

 private:
  std::uint32_t place_;
};

/// @brief A in shared memory.
template <class Tile, Major kMajor>
class OperandA : public Operand<Tile, kMajor, false> {
 public:
  __device__ explicit OperandA(int first_row = 0) : Operand<Tile, kMajor, false>(first_row) {}

  /// The fragment of 16 rows from first_row + row on, and 16 steps from k on; both are multiples of 16.
  __device__ FragmentA<typename Tile::Number> read(const Tile& tile, int row, int k) const {
    FragmentA<typename Tile::Number> a;
    this->read_square(tile, row, k, a.reg);
    return a;
  }
};

/// @brief B in shared memory.
template <class Tile, Major kMajor>
class OperandB : public Operand<Tile, kMajor, true> {
 public:
  __device__ explicit OperandB(int first_col = 0) : Operand<Tile, kMajor, true>(first_col) {}

  /// The fragments of 8 columns from first_col + col on, and of the next 8, for 16 steps from k on.
  __device__ void read(const Tile& tile, int col, int k, FragmentB<typename Tile::Number>& left,
                       FragmentB<typename Tile::Number>& right) const {
    std::uint32_t square[4];
    this->read_square(tile, col, k, square);
    left = {square[0], square[1]};
    right = {square[2], square[3]};
  }
};

/// @brief Two neighbouring fragments of C, 16 x 16 together, rounded to T, as A of the next product: each
/// lane has the numbers that it needs already.
template <class T>
__device__ FragmentA<T> operand_of(const FragmentC& left, const FragmentC& right) {
  return {{packed<T>(left.at[0], left.at[1]), packed<T>(left.at[2], left.at[3]),
           packed<T>(right.at[0], right.at[1]), packed<T>(right.at[2], right.at[3])}};
}

}  // namespace course::device
