#include "02_matrix_strides/launches.hpp"

#include <algorithm>
#include <string>

#include "02_matrix_strides/matrix_strides.hpp"

namespace course::lesson_02 {

using namespace grading;

namespace {

/// "1 block", "2 blocks".
std::string count_of(std::int64_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

}  // namespace

const simt::LaunchProfile* launch_of(const Outcome& outcome) {
  return outcome.profile && outcome.profile->launches.size() == 1 ? &outcome.profile->launches.front()
                                                                  : nullptr;
}

void require_block(const Outcome& outcome, TestLine where) {
  const simt::LaunchProfile* const launch = launch_of(outcome);
  if (!launch) return;
  const auto& block = launch->block;
  if (block[0] == kTile && block[1] == kBlockRows && block[2] == 1) return;
  const std::string sentence = "Blocks have " + std::to_string(block[0]) + " x " + std::to_string(block[1]) +
                               (block[2] == 1 ? "" : " x " + std::to_string(block[2])) +
                               " threads. The contract asks for kTile x kBlockRows, 32 along x and 8 along "
                               "y: dim3(kTile, kBlockRows).";
  grading::detail::report({{.kind = Failure::Kind::check, .sentence = sentence, .explains_findings = true}},
                          where);
}

void require_launch(const Outcome& outcome, std::string_view entry, std::int64_t elements) {
  const std::int64_t launches = outcome.counters.at("launches");
  if (elements == 0) {
    require(launches == 0, "An empty matrix launches nothing, but " + std::string(entry) + " launched " +
                               count_of(launches, "kernel") + ".");
    return;
  }
  const std::int64_t blocks = outcome.counters.at("blocks"), threads = outcome.counters.at("threads");
  require(launches == 1,
          std::string(entry) + " launched " + count_of(launches, "kernel") + "; it should launch one.");
  require(threads == blocks * kTile * kBlockRows,
          "The launch had " + count_of(blocks, "block") + " of " + std::to_string(threads / blocks) +
              " threads. The contract asks for blocks of kTile x kBlockRows = " +
              std::to_string(kTile * kBlockRows) + ".");
}

void require_copy_grid(const Outcome& outcome, std::int64_t rows, std::int64_t cols,
                       const std::function<Outcome()>& narrow) {
  const std::int64_t blocks = outcome.counters.at("blocks");
  const std::int64_t tiles_across = (cols - 1) / kTile + 1, tiles_down = (rows - 1) / kTile + 1;
  const auto why = [&]() -> std::string {
    if (narrow().status == Status::returned) return "";
    return " The blocks along x are those for the rows: the grid has its axes exchanged, or rows and columns "
           "are, though the smaller stride of dst is strides[1] here.";
  };
  if (blocks > tiles_across * kMaxGridY)
    require(false, "The launch had " + count_of(blocks, "block") + ". " + std::to_string(cols) +
                       " columns need " + std::to_string(tiles_across) +
                       " along x, and the contract allows kMaxGridY = " + std::to_string(kMaxGridY) +
                       " along y." + why());
  if (blocks < std::min<std::int64_t>(tiles_across * tiles_down, kMaxGridY))
    require(false, "The launch had only " + count_of(blocks, "block") + ", though the matrix has " +
                       std::to_string(tiles_across * tiles_down) +
                       " tiles. With more of them, more of a GPU works at once." + why());
}

void require_block_per_tile(const Outcome& outcome, std::int64_t rows, std::int64_t cols) {
  const std::int64_t tiles = ((rows - 1) / kTile + 1) * ((cols - 1) / kTile + 1);
  require(outcome.counters.at("blocks") == tiles,
          "The launch had " + std::to_string(outcome.counters.at("blocks")) + " blocks for " +
              std::to_string(tiles) + " tiles. The contract asks for one block a tile.");
}

}  // namespace course::lesson_02
