#include <algorithm>
#include <sstream>

#include "samples.hpp"
#include "simt/report/text.hpp"
#include "simt/report/text_layout.hpp"
#include "support/catch.hpp"

using Catch::Matchers::ContainsSubstring;
using simt::report::profile_text;

namespace {

std::string text_of(const std::vector<simt::LaunchProfile>& profiles) {
  const samples::Folder folder;
  return profile_text(profiles, folder.path(), {});
}

}  // namespace

TEST_CASE("a profile stands beside the source lines", "[report][profile]") {
  CHECK(text_of({samples::transpose()}) ==
        R"(transpose<<<1, (32,32)>>>

Global memory
  line  transpose.cu                      requests  sectors  ideal   moved  used
     4  tile[threadIdx.y][threadIdx.x...        32      4.0    4.0   4,096  100%
!    6  out[x * n + y] = tile[threadI...        32     32.0    4.0  32,768   12%
        total                                   64     18.0    4.0  36,864   22%

Shared memory
  line  transpose.cu                      requests  wavefronts  ideal  conflicts
     4  tile[threadIdx.y][threadIdx.x...        32         1.0    1.0          0
!    6  out[x * n + y] = tile[threadI...        32        32.0    1.0        992
        total                                   64        16.5    1.0        992

Barriers and shuffles
  line  transpose.cu      barriers
     5  __syncthreads();        32
        total                   32

! line 6: each store touches 32 sectors where 4 would do: every thread has a
  sector of its own. Let neighbouring threads write neighbouring elements.
! line 6: each load takes 32 wavefronts where 1 would do: threads of a warp read
  different words of one bank. Consecutive words lie in consecutive banks, 32 in
  all; one word of padding a row often spreads a column.

What the columns mean
Global memory
  requests    instructions that reach for global memory, counted once a warp
  sectors     pieces of 32 bytes that a request touches, on average
  ideal       sectors it would touch if its bytes lay side by side
  moved       bytes that travel, 32 for each sector; ideal: each byte once
  used        bytes asked for, % of moved; ideal: 100%, more if lanes share them
Shared memory
  requests    instructions that reach for shared memory, counted once a warp
  wavefronts  passes through the 32 banks that a request takes, on average
  ideal       wavefronts it would take without bank conflicts
  conflicts   wavefronts beyond the ideal, all together; ideal: 0
Barriers and shuffles
  barriers    arrivals of a warp at __syncthreads(); fewer is better
)");
}

TEST_CASE("no line is longer than 80 columns", "[report][profile]") {
  simt::LaunchProfile large = samples::transpose();
  for (simt::LineProfile& line : large.lines) {
    line.line += 123456;
    line.counters.global_load.requests = line.counters.global_load.bytes = 9'999'999;
    line.counters.shared_load.requests = line.counters.shared_load.wavefronts = 9'999'999;
    line.counters.barriers = line.counters.warp_syncs = line.counters.shuffles = 9'999'999;
    line.counters.votes = 9'999'999;
    line.counters.steps = line.counters.divergent_steps = 100;
  }
  large.total = large.lines[0].counters;
  std::istringstream lines(text_of({large, samples::transpose()}));
  for (std::string line; std::getline(lines, line);) {
    INFO(line);
    CHECK(simt::report::columns_of(line) <= 80);
    CHECK((line.empty() || line.back() != ' '));
  }
}

TEST_CASE("launches of one kernel and shape are summed", "[report][profile]") {
  simt::LaunchProfile other_shape = samples::transpose();
  other_shape.grid = {2, 2, 1};
  const std::string text = text_of({samples::transpose(), other_shape, samples::transpose()});
  CHECK_THAT(text, ContainsSubstring("transpose<<<1, (32,32)>>>, 2 launches\n"));
  CHECK_THAT(text, ContainsSubstring("transpose<<<(2,2), (32,32)>>>\n"));
  CHECK_THAT(text, ContainsSubstring("      1,984\n"));  // conflicts
  const std::string legend = "What the columns mean";
  CHECK(text.find(legend) == text.rfind(legend));
}

TEST_CASE("lines of several files stand under the files' names", "[report][profile]") {
  simt::LaunchProfile profile = samples::transpose();
  profile.lines[0].file = "common/device/load_tile.cuh";
  profile.lines[0].line = 12;
  const std::string text = text_of({profile});
  CHECK_THAT(text, ContainsSubstring("        load_tile.cuh\n    12"));
  CHECK_THAT(text, ContainsSubstring("        transpose.cu\n!    6"));
  CHECK_THAT(text, ContainsSubstring("! transpose.cu:6: each store"));
}

TEST_CASE("a clean profile says that no line stands out", "[report][profile]") {
  simt::LaunchProfile profile = samples::transpose();
  profile.lines.pop_back();
  profile.total = profile.lines[0].counters;
  const std::string text = text_of({profile});
  CHECK_THAT(text, ContainsSubstring("No line stands out.\n"));
  CHECK(text.find('!') == std::string::npos);
}

TEST_CASE("a profile tells of blocks that start last and have most work", "[report][profile]") {
  simt::LaunchProfile profile = samples::transpose();
  const auto order_of = [](std::uint64_t blocks, bool largest_first) {
    simt::BlockOrder order{.blocks = blocks};
    for (std::uint64_t i = 0; i < blocks; ++i) order.add(i, {largest_first ? blocks - i : i + 1});
    return order;
  };
  profile.order = order_of(20, true);  // the last two have 2 and 1, of 10.5 on average
  CHECK(profile.order.last_over_mean() == 2 / 10.5);
  CHECK_THAT(text_of({profile}), !ContainsSubstring("start last"));
  profile.order = order_of(20, false);
  CHECK(profile.order.last_over_mean() == 20 / 10.5);
  CHECK_THAT(text_of({profile}),
             ContainsSubstring("The blocks that start last have up to 1.9 times the work of the mean"));
  CHECK_THAT(text_of({profile, profile}), ContainsSubstring("1.9 times the work"));
  profile.order = order_of(9, false);  // which a GPU runs all at once
  CHECK_THAT(text_of({profile}), !ContainsSubstring("start last"));
  CHECK(simt::BlockOrder{}.last_over_mean() == 0);
}

TEST_CASE("a profile knows the share of each block's busiest warp", "[report][profile]") {
  simt::BlockOrder order{.blocks = 2};
  CHECK(order.busiest_share() == 0);
  order.add(0, {10, 30});
  order.add(1, {50, 10});
  CHECK(order.busiest_share() == 0.8);
  CHECK(order.largest == 60);
}

TEST_CASE("marks are painted on a terminal", "[report][profile]") {
  const samples::Folder folder;
  const std::string text =
      profile_text({samples::transpose()}, folder.path(), {.width = 80, .colours = true});
  CHECK_THAT(text, ContainsSubstring("\033[1mGlobal memory\033[0m\n"));
  CHECK_THAT(text, ContainsSubstring("\n\033[33m!    6"));
}

TEST_CASE("a profile of nothing says so", "[report][profile]") {
  CHECK(text_of({}) == "Nothing to show: no kernel ran.\n");
  simt::LaunchProfile empty;
  empty.kernel = "idle";
  empty.grid = empty.block = {1, 1, 1};
  CHECK(text_of({empty}) ==
        "idle<<<1, 1>>>\n\nNothing to count: no access to memory, no barrier, no shuffle.\n\n");
}

TEST_CASE(
    "a profile with arithmetic has the cycles that each unit needs at least, and the unit that needs most",
    "[report][profile]") {
  simt::LaunchProfile profile = samples::transpose();
  simt::Counters& line = profile.lines[0].counters;
  line.matrix_instructions = 100;
  line.matrix_float16 = 100 * 2048;             // 100 cycles
  line.float_instructions = 8;                  // 2
  line.special_instructions = 1000;             // 2000
  profile.lines[2].counters.matrix_tf32 = 512;  // half a cycle
  profile.total.matrix_instructions = line.matrix_instructions;
  profile.total.matrix_float16 = line.matrix_float16;
  profile.total.float_instructions = line.float_instructions;
  profile.total.special_instructions = line.special_instructions;
  profile.total.matrix_tf32 = profile.lines[2].counters.matrix_tf32;
  const std::string text = text_of({profile});
  CHECK_THAT(text, ContainsSubstring(R"(
Lower bound: cycles of one multiprocessor of an H200
  line  transpose.cu                     tensor  float32  special  shared  share
     4  tile[threadIdx.y][threadIdx....     100      2.0    2,000      32   100%
     6  out[x * n + y] = tile[thread...     0.5                     1,024     0%
        total                               101      2.0    2,000   1,056   100%

Of these units, the special-function units take longest: at least 2,000 cycles,
if one multiprocessor ran all blocks. An H200 has 132 of them.

! line 6)"));
}
