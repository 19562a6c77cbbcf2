#include "grading/testing/traffic.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "simt/report/fields.hpp"
#include "support/catch.hpp"

using namespace course::grading;

namespace {

/// A line that reads: what the lanes ask for, the sectors that would do, and those that are touched.
simt::LineProfile reads(int line, std::uint64_t asked, std::uint64_t ideal, std::uint64_t touched) {
  simt::LineProfile profile{"/home/student/kernel.cu", line, {}};
  profile.counters.global_load = {1, touched, ideal, asked, 32 * touched};
  return profile;
}

Profile launch_of(std::vector<simt::LineProfile> lines) {
  simt::LaunchProfile launch;
  launch.kernel = "load_kernel";
  for (const simt::LineProfile& line : lines) simt::report::add(launch.total, line.counters);
  launch.lines = std::move(lines);
  return make_profile({launch});
}

}  // namespace

TEST_CASE("reading as much as is allowed, and a tenth more, is said nothing of") {
  CHECK(reads_too_much(launch_of({reads(7, 3520, 110, 110)}), 3200, "to read x once").empty());
}

TEST_CASE("reading more than is allowed names the bytes and the line that reads most") {
  const std::string said =
      reads_too_much(launch_of({reads(7, 640, 20, 20), reads(9, 6400, 200, 200)}), 3200, "to read x once");
  CHECK(said ==
        "Your code reads 7040 bytes or more, counted in whole sectors of 32 bytes; to read x once takes at "
        "most 3200. The line that reads most is kernel.cu:9, 6400 bytes.");
}

TEST_CASE("single floats that move whole sectors are told from reading twice") {
  const std::string said =
      reads_too_much(launch_of({reads(7, 400, 100, 100), reads(9, 800, 25, 25)}), 1200, "to read x once");
  CHECK(said ==
        "Your code reads 4000 bytes or more, counted in whole sectors of 32 bytes; to read x once takes at "
        "most 1200. Its threads ask for only 1200 of them: the rest of each sector is wasted. Most of that "
        "is in kernel.cu:7, 2800 bytes.");
}

TEST_CASE("scattered reading of each element once is a matter of sectors alone") {
  const Profile scattered = launch_of({reads(7, 3200, 100, 100), reads(9, 3200, 100, 800)});
  CHECK(reads_too_much(scattered, 6400, "to read x and w once").empty());
  CHECK(scattered_accesses(scattered) ==
        "The warps of load_kernel touch 900 sectors of 32 bytes where 200 would do: memory moves in whole "
        "sectors, and "
        "neighbouring threads read or write elements that lie apart. Most of them are in kernel.cu:9, 700 "
        "too many.");
  CHECK(scattered_accesses(launch_of({reads(7, 3200, 100, 110)})).empty());
}

TEST_CASE("two lanes may ask for the same number at the same time, and more are told to share it") {
  CHECK(reads_too_much(launch_of({reads(7, 7040, 100, 100)}), 3200, "to read x once").empty());
  CHECK(reads_too_much(launch_of({reads(7, 640, 20, 20), reads(9, 6432, 50, 50)}), 3200, "to read x once") ==
        "The threads ask for 7072 bytes in all; to read x once takes at most 3200. Lanes of a warp that ask "
        "for the same number at the same time share a sector, but each of them loads it for itself. Let one "
        "of them load what threads need together, and the others find it in shared memory. The line that "
        "asks for most is kernel.cu:9, 6432 bytes.");
}

TEST_CASE("writing too much names a line, and writing too little does not") {
  simt::LineProfile line{"kernel.cu", 5, {}};
  line.counters.global_store = {7, 25, 25, 800, 800};
  CHECK(
      writes_not_exactly(launch_of({line}), 400, "to write y once") ==
      "Your code writes 800 bytes to global memory; to write y once takes 400. The line that writes most is "
      "kernel.cu:5, 800 bytes.");
  CHECK(writes_not_exactly(launch_of({line}), 900, "to write y once") ==
        "Your code writes 800 bytes to global memory; to write y once takes 900.");
  CHECK(writes_not_exactly(launch_of({line}), 800, "to write y once").empty());
}

TEST_CASE("lanes that store one after the other touch few sectors each time, and are told", "[traffic]") {
  simt::LineProfile line{"/home/student/kernel.cu", 5, {}};
  line.counters.global_store = {32, 32, 32, 128, 1024};
  const std::string said = half_empty_sectors(line.counters.global_store, "store");
  CHECK(said ==
        "The warps store 128 bytes with 32 instructions, which take sectors of 1024 bytes: few lanes store "
        "at a time, and most lanes have nothing to do. Let all lanes of a warp store together.");
  CHECK(scattered_accesses(launch_of({line})) == said);
  line.counters.global_store = {3, 6, 6, 128, 192};  // a row of 32 numbers, and two of one each
  CHECK(scattered_accesses(launch_of({line})).empty());
  CHECK(scattered_accesses(launch_of({reads(7, 400, 100, 100)})).starts_with("The warps load 400 bytes"));
  CHECK(half_empty_sectors({}, "load").empty());
}

TEST_CASE("a launch of which one block does most is told", "[traffic]") {
  simt::LaunchProfile launch;
  launch.kernel = "row_kernel";
  launch.order = {.blocks = 4, .work = 100, .largest = 55};
  CHECK(one_block_works(make_profile({launch}), 0.5).empty());
  launch.order.largest = 100;
  CHECK(
      one_block_works(make_profile({launch}), 0.5) ==
      "Of the 4 blocks of row_kernel, one has 100 % of the work: the others have little to do, and most of a "
      "GPU nothing.");
  launch.order.largest = 25;
  launch.stores = {.blocks = 4, .work = 400, .largest = 400};
  CHECK(one_block_works(make_profile({launch}), 0.5)
            .starts_with("Of the 4 blocks of row_kernel, one stores 100 % of the results: "));
  CHECK(one_block_works(make_profile({}), 0.5).empty());
}

TEST_CASE("loads that bring one number each are told, and those that bring 8 are not") {
  simt::LineProfile one = reads(7, 400, 13, 100), eight = one;
  one.counters.global_load.requests = 100;
  eight.counters.global_load.requests = 12;
  CHECK(few_lanes_load(launch_of({one})).starts_with("The warps load 100 numbers with 100 instructions"));
  CHECK(few_lanes_load(launch_of({eight})).empty());
  CHECK(few_lanes_load(launch_of({})).empty());
}

TEST_CASE("a block in which one warp does more than twice its share is told", "[traffic]") {
  simt::LaunchProfile launch;
  launch.kernel = "decode_kernel";
  launch.block = {100, 1, 1};  // four warps
  launch.order = {.blocks = 1, .work = 100, .busiest = 50};
  CHECK(few_warps_work(make_profile({launch})).empty());
  launch.order.busiest = 90;
  CHECK(few_warps_work(make_profile({launch})) ==
        "In each block of decode_kernel, one of 4 warps has 90 % of the accesses to memory and matrix "
        "products. Share the work out to all warps.");
  CHECK(few_warps_work(make_profile({launch}), 3.7).empty());
  launch.loads = {.blocks = 1, .work = 10, .busiest = 9};
  CHECK(few_warps_load(make_profile({launch})) ==
        "In each block of decode_kernel, one of 4 warps has 90 % of the loads from global memory. Share the "
        "work out to all warps.");
  launch.block = {32, 1, 1};
  launch.order.busiest = 100;
  CHECK(few_warps_work(make_profile({launch})).empty());
}

TEST_CASE("warps that have no row of few are not missed", "[traffic]") {
  simt::LaunchProfile launch;
  launch.block = {1024, 1, 1};
  launch.order = {.blocks = 1, .work = 100, .busiest = 26};  // a warp for each of four rows
  CHECK(few_warps_of_rows_work(make_profile({launch}), 4).empty());
  CHECK_FALSE(few_warps_work(make_profile({launch})).empty());
  launch.order.busiest = 50;  // or for two
  CHECK_FALSE(few_warps_of_rows_work(make_profile({launch}), 4).empty());
  launch.order = {.blocks = 4, .work = 100, .busiest = 25};  // a row has a whole block
  CHECK_FALSE(few_warps_of_rows_work(make_profile({launch}), 4).empty());
}

TEST_CASE("warps of which few lanes are at work are told", "[traffic]") {
  Profile profile;
  profile.steps = 10, profile.lanes = 80;
  CHECK(few_lanes_work(profile).empty());
  profile.lanes = 79;
  CHECK(few_lanes_work(profile) ==
        "In a step of a warp, 7.9 of its 32 lanes are at work on average. Share the work out to all threads "
        "of a block.");
  CHECK(few_lanes_work(Profile{}).empty());
}

TEST_CASE("products beside tensor cores are told, and a softmax is none", "[traffic]") {
  Profile profile;
  profile.matrix_float16 = 2048, profile.float_instructions = 8;
  CHECK(products_beside_tensor_cores(profile).empty());
  profile.float_instructions = 9;
  CHECK(
      products_beside_tensor_cores(profile) ==
      "Tensor cores do 2048 multiply-adds, and ordinary units 288. All products of matrices belong on tensor "
      "cores.");
}

TEST_CASE("products that tensor cores leave out are told", "[traffic]") {
  Profile profile;
  profile.matrix_float16 = 2048;
  CHECK(few_on_tensor_cores(profile, 2048).empty());
  CHECK(few_on_tensor_cores(profile, 2049) ==
        "Tensor cores do 2048 multiply-adds; the products take 2049 or more.");
}

TEST_CASE("blocks that start last are told by what they load, too", "[traffic]") {
  simt::LaunchProfile launch;
  launch.kernel = "attention_kernel";
  launch.order = {.blocks = 20, .work = 200, .last_largest = 10};
  CHECK(last_is_largest(make_profile({launch})).empty());
  launch.loads = {.blocks = 20, .work = 200, .last_largest = 20};
  CHECK(last_is_largest(make_profile({launch}))
            .starts_with("Of attention_kernel, blocks that start last have 2.0 times the work of the mean."));
}

TEST_CASE("atomics on shared memory may be barriers, and many of them count as loads and stores",
          "[traffic]") {
  simt::LineProfile line{"/home/student/kernel.cu", 7, {}};
  line.counters.barriers = 3;
  line.counters.shared_atomic = {32, 64, 32, 4096};
  const Profile many = with_atomics_as_accesses(launch_of({line}));
  CHECK(meetings(many) == 35);
  simt::Counters with_signals;
  with_signals.barriers = 3, with_signals.signals = 5;
  CHECK(meetings(with_signals) == 8);
  CHECK(many.shared_store.bytes_asked == 4096);
  CHECK(many.shared_load.conflicts() == 32);
  line.counters.shared_atomic.bytes_asked = 1024;
  CHECK(with_atomics_as_accesses(launch_of({line})).shared_store.requests == 0);
}

TEST_CASE("a line whose lanes write the same elements is told before one that writes more", "[traffic]") {
  simt::LineProfile once{"/home/student/kernel.cu", 7, {}}, again{"/home/student/kernel.cu", 9, {}};
  once.counters.global_store = {10, 40, 40, 1280, 1280};
  again.counters.global_store = {4, 4, 16, 512, 512};  // 32 lanes, one sector
  CHECK(
      writes_not_exactly(launch_of({once, again}), 1300, "to write y once") ==
      "Your code writes 1792 bytes to global memory; to write y once takes 1300. In kernel.cu:9, lanes of a "
      "warp write the same elements: 384 bytes or more are in vain.");
}

TEST_CASE("many atomics count as loads and stores, and a few do not", "[traffic]") {
  simt::LineProfile line = reads(7, 4096, 128, 128);
  line.counters.global_atomic = {32, 128, 128, 4096, 4096};
  const Profile many = with_atomics_as_accesses(launch_of({line}));
  CHECK(many.global_load.bytes_asked == 8192);
  CHECK(many.global_store.bytes_asked == 4096);
  CHECK(many.launches[0].lines[0].counters.global_load.ideal_sectors == 256);
  for (const std::uint64_t few : {4u, 512u, 1024u}) {
    line.counters.global_atomic.bytes_asked = few;
    CHECK(with_atomics_as_accesses(launch_of({line})).global_load.bytes_asked == 4096);
  }
  // Few beside what is loaded may be many beside what is stored.
  line = reads(7, 65536, 2048, 2048);
  line.counters.global_atomic = {32, 128, 128, 4096, 4096};
  line.counters.global_store = {256, 1024, 1024, 32768, 32768};
  CHECK(with_atomics_as_accesses(launch_of({line})).global_store.bytes_asked == 32768);
  line.counters.global_store = {32, 128, 128, 4096, 4096};
  CHECK(with_atomics_as_accesses(launch_of({line})).global_store.bytes_asked == 8192);
}
