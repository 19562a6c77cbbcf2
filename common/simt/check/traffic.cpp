#include "simt/check/traffic.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace simt::check {
namespace {

constexpr unsigned kBanks = 32, kSectorBytes = 32;

/// True if the active lanes are 0 to n-1 and each touches the bytes behind its neighbour's.
bool in_a_row(const std::uint64_t* offsets, LaneMask lanes, unsigned bytes) {
  if ((lanes & (lanes + 1)) != 0) return false;
  const int count = std::popcount(lanes);
  for (int lane = 1; lane < count; ++lane)
    if (offsets[lane] != offsets[0] + static_cast<unsigned>(lane) * bytes) return false;
  return true;
}

/// True if no two of the words lie in one bank, unless they are the same.
bool free_of_conflicts(const std::uint64_t* offsets, LaneMask lanes) {
  std::uint64_t in_bank[kBanks];
  std::uint32_t used = 0;
  for (; lanes != 0; lanes &= lanes - 1) {
    const std::uint64_t word = offsets[std::countr_zero(lanes)] / 4;
    const auto bank = static_cast<unsigned>(word % kBanks);
    if ((used >> bank & 1u) != 0 && in_bank[bank] != word) return false;
    used |= 1u << bank;
    in_bank[bank] = word;
  }
  return true;
}

/// The most distinct words in one bank that these lanes touch.
unsigned passes(const std::uint64_t* offsets, LaneMask lanes, unsigned words_each) {
  std::uint64_t words[kBanks][kBanks * 4];
  unsigned count[kBanks] = {};
  unsigned most = 0;
  for (; lanes != 0; lanes &= lanes - 1) {
    const std::uint64_t first = offsets[std::countr_zero(lanes)] / 4;
    for (std::uint64_t word = first; word < first + words_each; ++word) {
      const auto bank = static_cast<unsigned>(word % kBanks);
      std::uint64_t* const known = words[bank];
      if (std::find(known, known + count[bank], word) != known + count[bank]) continue;
      known[count[bank]++] = word;
      most = std::max(most, count[bank]);
    }
  }
  return most;
}

unsigned ceil_div(unsigned value, unsigned by) { return (value + by - 1) / by; }

/// True if for every active lane i the lane i ^ distance is inactive or touches the same address.
bool pairs_meet(const std::uint64_t* offsets, LaneMask lanes, unsigned distance) {
  for (LaneMask rest = lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest)), partner = lane ^ distance;
    if ((lanes >> partner & 1u) != 0 && offsets[lane] != offsets[partner]) return false;
  }
  return true;
}

}  // namespace

Sectors count_sectors(const std::uint64_t* offsets, LaneMask lanes, unsigned bytes) {
  const auto count = static_cast<unsigned>(std::popcount(lanes));
  const unsigned packed = ceil_div(count * bytes, kSectorBytes);
  if (in_a_row(offsets, lanes, bytes)) {
    const std::uint64_t first = offsets[0] / kSectorBytes,
                        last = (offsets[0] + count * bytes - 1) / kSectorBytes;
    return {static_cast<unsigned>(last - first + 1), packed};
  }
  std::uint64_t sectors[64];
  unsigned found = 0;
  for (LaneMask rest = lanes; rest != 0; rest &= rest - 1) {
    const std::uint64_t offset = offsets[std::countr_zero(rest)];
    const std::uint64_t first = offset / kSectorBytes, last = (offset + bytes - 1) / kSectorBytes;
    if (found == 0 || sectors[found - 1] != first) sectors[found++] = first;
    if (last != first) sectors[found++] = last;
  }
  if (!std::is_sorted(sectors, sectors + found)) std::sort(sectors, sectors + found);
  const auto touched = static_cast<unsigned>(std::unique(sectors, sectors + found) - sectors);
  return {touched, std::min(touched, packed)};
}

Sectors count_atomic_sectors(const std::uint64_t* offsets, LaneMask lanes, unsigned bytes) {
  std::uint64_t places[32];
  unsigned count = 0;
  for (LaneMask rest = lanes; rest != 0; rest &= rest - 1) places[count++] = offsets[std::countr_zero(rest)];
  std::sort(places, places + count);
  Sectors result;
  unsigned most = 0;  // lanes that meet at one address of the sector in hand
  for (unsigned first = 0, next = 0; first < count; first = next) {
    while (next < count && places[next] == places[first]) ++next;
    most = std::max(most, next - first);
    if (next < count && places[next] / kSectorBytes == places[first] / kSectorBytes) continue;
    result.touched += std::exchange(most, 0u);
  }
  result.ideal = std::min(result.touched, ceil_div(count * bytes, kSectorBytes));
  return result;
}

Wavefronts count_wavefronts(const std::uint64_t* offsets, LaneMask lanes, unsigned bytes, bool is_load) {
  // A lane's 4 bytes are one word of one bank; narrower accesses of one word share it as equal ones do.
  const unsigned words_each = std::max(1u, bytes / 4);
  if (words_each == 1 && (in_a_row(offsets, lanes, bytes) || free_of_conflicts(offsets, lanes)))
    return {1, 1};
  unsigned group = kBanks / words_each;  // lanes that are served together
  if (is_load && words_each > 1 && (pairs_meet(offsets, lanes, 1) || pairs_meet(offsets, lanes, 2)))
    group *= 2;
  Wavefronts result;
  for (unsigned first = 0; first < 32; first += group) {
    const LaneMask mask = group == 32 ? lanes : lanes & ((LaneMask{1} << group) - 1) << first;
    if (mask != 0) result.needed += passes(offsets, mask, words_each);
  }
  result.ideal =
      std::min(result.needed, ceil_div(static_cast<unsigned>(std::popcount(lanes)) * bytes, 4 * kBanks));
  return result;
}

Wavefronts count_atomic_wavefronts(const std::uint64_t* offsets, LaneMask lanes, unsigned bytes) {
  unsigned in_bank[kBanks] = {};
  Wavefronts result;
  for (LaneMask rest = lanes; rest != 0; rest &= rest - 1)
    result.needed = std::max(result.needed, ++in_bank[offsets[std::countr_zero(rest)] / 4 % kBanks]);
  result.ideal =
      std::min(result.needed, ceil_div(static_cast<unsigned>(std::popcount(lanes)) * bytes, 4 * kBanks));
  return result;
}

}  // namespace simt::check
