#include "simt/matrix/fragments.hpp"

#include <algorithm>
#include <cstring>

namespace simt::matrix {
namespace {

/// For registers of that many bytes.
template <int kRegisterBytes>
void collect_lines_of(const Registers& from, int lines, int line_bytes, std::byte* to) {
  constexpr int kStepBytes = 4 * kRegisterBytes;  // along a line, from one register of a lane to the next
  for (int lane = 0; lane < 32; ++lane) {
    const std::byte* next = from.of_lane[lane];
    std::byte* const first = to + lane / 4 * line_bytes + lane % 4 * kRegisterBytes;
    for (int place = 0; place < line_bytes; place += kStepBytes)
      for (int line = 0; line < lines; line += kTile) {
        std::byte* const target = first + line * line_bytes + place;
        if (next == nullptr) {
          std::memset(target, 0xff, kRegisterBytes);
          continue;
        }
        std::memcpy(target, next, kRegisterBytes);
        next += kRegisterBytes;
      }
  }
}

/// Calls visit(offset of the pair in the matrix, lane, number of the pair in the lane), offsets in pairs.
template <class Visit>
void for_each_pair(int rows, int cols, Visit visit) {
  int pair = 0;
  for (int col = 0; col < cols; col += kTile)
    for (int row = 0; row < rows; row += kTile, ++pair)
      for (int lane = 0; lane < 32; ++lane) visit(((row + lane / 4) * cols + col) / 2 + lane % 4, lane, pair);
}

template <int kPairBytes>
void collect_pairs(const Registers& from, int rows, int cols, std::byte* to) {
  for_each_pair(rows, cols, [&](int place, int lane, int pair) {
    if (from.of_lane[lane] != nullptr)
      std::memcpy(to + place * kPairBytes, from.of_lane[lane] + pair * kPairBytes, kPairBytes);
    else
      std::memset(to + place * kPairBytes, 0xff, kPairBytes);
  });
}

template <int kPairBytes>
void hand_back_pairs(const std::byte* from, int rows, int cols, const Registers& to) {
  for_each_pair(rows, cols, [&](int place, int lane, int pair) {
    if (to.of_lane[lane] != nullptr)
      std::memcpy(to.of_lane[lane] + pair * kPairBytes, from + place * kPairBytes, kPairBytes);
  });
}

}  // namespace

void collect_lines(const Registers& from, int lines, int length, int element_bytes, std::byte* to) {
  if (element_bytes == 8)
    collect_lines_of<8>(from, lines, length * element_bytes, to);
  else
    collect_lines_of<4>(from, lines, length * element_bytes, to);
}

void collect_sums(const Registers& from, int rows, int cols, int element_bytes, std::byte* to) {
  switch (element_bytes) {
    case 2:
      return collect_pairs<4>(from, rows, cols, to);
    case 4:
      return collect_pairs<8>(from, rows, cols, to);
    default:
      return collect_pairs<16>(from, rows, cols, to);
  }
}

void hand_back_sums(const std::byte* from, int rows, int cols, int element_bytes, const Registers& to) {
  switch (element_bytes) {
    case 2:
      return hand_back_pairs<4>(from, rows, cols, to);
    case 4:
      return hand_back_pairs<8>(from, rows, cols, to);
    default:
      return hand_back_pairs<16>(from, rows, cols, to);
  }
}

void collect_pieces(const Registers& from, int lines, int length, int element_bytes, std::byte* to) {
  const int line_bytes = length * element_bytes, piece_bytes = lines * line_bytes / 32;
  for (int lane = 0; lane < 32; ++lane) {
    std::byte* const target = to + lane % lines * line_bytes + lane / lines * piece_bytes;
    if (from.of_lane[lane] != nullptr)
      std::memcpy(target, from.of_lane[lane], static_cast<std::size_t>(piece_bytes));
    else
      std::memset(target, 0xff, static_cast<std::size_t>(piece_bytes));
  }
}

}  // namespace simt::matrix
