#include "02_matrix_strides/traffic.hpp"

#include <algorithm>

#include "02_matrix_strides/matrix_strides.hpp"

namespace course::lesson_02 {

using namespace grading;

namespace {

/// "32.0": how many sectors a warp's access touches on average.
std::string per_request(std::uint64_t count, std::uint64_t requests) {
  const std::uint64_t tenths = requests == 0 ? 0 : (10 * count + requests / 2) / requests;
  return tenths % 10 == 0 ? std::to_string(tenths / 10)
                          : std::to_string(tenths / 10) + "." + std::to_string(tenths % 10);
}

/// Why so many rows are copied, if it is that the loop over rows steps by those of one block.
std::string rows_again(const Profile& profile, std::int64_t elements, std::string_view to) {
  if (to != "dst" || profile.launches.empty()) return "";
  const simt::LaunchProfile& launch = profile.launches[0];
  const std::int64_t across = std::int64_t{launch.grid[0]} * kTile;
  for (std::int64_t rows = 1; rows <= elements; ++rows) {
    const std::int64_t cols = elements / rows;
    if (elements % rows != 0 || cols > across || cols <= across - kTile) continue;
    std::int64_t copied = 0;
    for (std::int64_t first = 0; first < std::min(rows, std::int64_t{launch.grid[1]} * kBlockRows); ++first)
      copied += (rows - first - 1) / kBlockRows + 1;
    if (copied > rows && static_cast<std::uint64_t>(4 * copied * cols) == profile.global_store.bytes_asked)
      return " Rows are copied more than once: so many if each thread goes on by kBlockRows rows, those of "
             "one block. It has to go on by the rows of all blocks along y, gridDim.y * kBlockRows.";
  }
  return "";
}

}  // namespace

void require_one_pass(const Outcome& outcome, std::int64_t elements, std::string_view from,
                      std::string_view to) {
  const Profile* profile = profile_of(outcome);
  if (!profile) return;
  const auto bytes = static_cast<std::uint64_t>(4 * elements);
  require(profile->global_load.bytes_asked == bytes,
          "The threads read " + std::to_string(profile->global_load.bytes_asked) +
              " bytes in all. To read each element of " + std::string(from) + " once takes " +
              std::to_string(bytes) + " bytes." + rows_again(*profile, elements, to));
  require(profile->global_store.bytes_asked == bytes,
          "The threads wrote " + std::to_string(profile->global_store.bytes_asked) +
              " bytes in all. To write each element of " + std::string(to) + " once takes " +
              std::to_string(bytes) + " bytes.");
}

void require_coalesced(const simt::GlobalTraffic& traffic, const std::string& verb, const std::string& array,
                       const std::string& remedy, std::uint64_t apart) {
  const std::uint64_t ideal = apart * traffic.ideal_sectors;
  require(10 * traffic.sectors <= 11 * ideal,
          "When a warp " + verb + " " + array + ", it touches " +
              per_request(traffic.sectors, traffic.requests) + " sectors of 32 bytes where " +
              per_request(ideal, traffic.requests) + " would do. " + remedy);
  require_full_sectors(traffic, verb == "reads" ? "load" : "store");
}

void require_busy(const Profile& profile, std::int64_t elements) {
  require_busy_blocks(profile, static_cast<double>(kTile * kTile) / static_cast<double>(elements));
  require_busy_warps(profile);
}

void require_no_conflicts(const simt::SharedTraffic& traffic, const std::string& verb) {
  require(traffic.conflicts() == 0,
          "When a warp " + verb + " shared memory, it takes " +
              per_request(traffic.wavefronts, traffic.requests) + " passes through the banks where " +
              per_request(traffic.ideal_wavefronts, traffic.requests) +
              " would do: several of its lanes want different words of the same bank. Elements whose "
              "addresses differ by a multiple of 32 words share a bank.");
}

void require_tiles(const Profile& profile, std::int64_t elements) {
  const auto bytes = static_cast<std::uint64_t>(4 * elements);
  const std::uint64_t stored = profile.shared_store.bytes_asked, loaded = profile.shared_load.bytes_asked;
  require(stored >= bytes && loaded >= bytes,
          "The threads wrote " + std::to_string(stored) + " bytes to shared memory and read " +
              std::to_string(loaded) + " from there. Each element of in goes through a tile, which takes " +
              std::to_string(bytes) + " bytes of both.");
}

}  // namespace course::lesson_02
