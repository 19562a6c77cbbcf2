// Tests of lesson 23: occupancy against pairs from CUDA's own calculator, what is left out, searches with
// made-up costs and with the bound from what check mode counts, caches that are damaged, and the products.

#include "23_autotuning/autotuning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <new>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "23_autotuning/bound.hpp"
#include "23_autotuning/cache.hpp"
#include "23_autotuning/candidates.hpp"
#include "23_autotuning/configurations.hpp"
#include "23_autotuning/devices.hpp"
#include "23_autotuning/occupancy.hpp"
#include "23_autotuning/products.hpp"
#include "23_autotuning/search.hpp"
#include "23_autotuning/time.hpp"
#include "23_autotuning/usage.hpp"
#include "drawn/drawn.hpp"
#include "grading/testing/lesson_test.hpp"
#include "products/problem.hpp"
#include "tensor/format.hpp"
#include "tensor/random.hpp"
#include "tensor/tensor.hpp"

using namespace course;
using namespace course::grading;
using namespace course::lesson_23;
using namespace course::products;

TEST_CASE("usage: threads, registers and shared memory of every kernel", "[l23][usage_of][points:2]") {
  check_usages({std::begin(kCompiled), std::end(kCompiled)});
  const std::vector<Configuration> others = other_configurations();
  std::string list;
  for (const Configuration& c : others) list += (list.empty() ? "" : "; ") + text_of(c);
  INFO("Configurations for which no kernel is compiled: " << list);
  check_usages(others);
}

TEST_CASE("occupancy: what the notes count by hand", "[l23][blocks_per_multiprocessor][points:1]") {
  check_occupancy({{{256, 128, 16896}, 2}, {{256, 32, 0}, 8}, {{160, 80, 0}, 4}, {{128, 40, 115712}, 2}},
                  kH100);
}

TEST_CASE("occupancy: warps and blocks", "[l23][blocks_per_multiprocessor][points:1]") {
  check_occupancy({{{32, 16, 0}, 32},
                   {{64, 16, 0}, 32},
                   {{1, 1, 0}, 32},
                   {{96, 16, 0}, 21},
                   {{33, 16, 0}, 32},
                   {{1024, 16, 0}, 2},
                   {{65, 16, 0}, 21},
                   {{127, 16, 0}, 16},
                   {{159, 16, 0}, 12},
                   {{17, 24, 0}, 32}},
                  kH100);
  check_occupancy({{{32, 16, 0}, 24}, {{64, 16, 0}, 24}, {{1024, 16, 0}, 1}, {{96, 16, 0}, 16}}, kL40);
  Random random(case_seed());
  check_occupancy(random_pairs({1024, 16, 0}, kL40, random), kL40);
}

TEST_CASE("occupancy: registers, by the warp and by the partition",
          "[l23][blocks_per_multiprocessor][points:2]") {
  check_occupancy({{{160, 80, 0}, 4},
                   {{160, 72, 0}, 5},
                   {{32, 80, 0}, 24},
                   {{32, 255, 0}, 8},
                   {{33, 80, 0}, 12},
                   {{96, 168, 0}, 4},
                   {{640, 96, 0}, 1},
                   {{672, 96, 0}, 0},
                   {{128, 33, 0}, 12},
                   {{256, 41, 0}, 5},
                   {{64, 49, 0}, 18},
                   {{1024, 64, 0}, 1},
                   {{1024, 65, 0}, 0}},
                  kH100);
  Random random(case_seed());
  check_occupancy(random_pairs({1024, 255, 0}, kH100, random), kH100);
  for (int i = 0; i < 4; ++i) {  // as many registers as nobody knows beforehand
    Device device = kH100;
    device.registers = 256 * static_cast<int>(random.integer(48, 512));
    device.name = fmt::format("an H100 with {} registers", device.registers);
    check_occupancy(random_pairs({512, 120, 0}, device, random), device);
  }
}

TEST_CASE("occupancy: shared memory, and what the system takes of it",
          "[l23][blocks_per_multiprocessor][points:2]") {
  check_occupancy({{{128, 40, 232448}, 1},
                   {{128, 40, 115712}, 2},
                   {{128, 40, 115713}, 1},
                   {{128, 40, 45666}, 4},
                   {{128, 40, 32326}, 6},
                   {{128, 40, 24916}, 8},
                   {{128, 40, 50177}, 4},
                   {{128, 40, 0}, 12}},
                  kH100);
  check_occupancy(
      {{{128, 40, 166912}, 1}, {{128, 40, 82944}, 2}, {{128, 40, 82945}, 1}, {{128, 40, 50177}, 3}}, kA100);
  check_occupancy({{{128, 40, 101376}, 1}, {{128, 40, 50176}, 2}, {{128, 40, 50177}, 1}}, kL40);
  Random random(case_seed());
  check_occupancy(random_pairs({256, 40, 166912}, kA100, random), kA100);
  // Blocks that fill a multiprocessor to its last byte, with what the system takes.
  for (int i = 0; i < 4; ++i) {
    Device device = kH100;
    device.reserved_shared_bytes = static_cast<int>(random.integer(1, 2000));
    device.name =
        fmt::format("an H100 of which the system takes {} bytes a block", device.reserved_shared_bytes);
    std::vector<Pair> pairs;
    for (const int blocks : {2, 3, 4, 6, 8, 12})
      pairs.push_back({{128, 40, device.shared_bytes / blocks - device.reserved_shared_bytes}, blocks});
    check_occupancy(pairs, device);
  }
  Device turing = kL40;  // of which the system takes nothing
  turing.name = "T4";
  turing.warps = 32, turing.blocks = 16;
  turing.shared_bytes = turing.block_shared_bytes = 64 * 1024, turing.reserved_shared_bytes = 0;
  check_occupancy({{{128, 40, 0}, 8}, {{128, 40, 32768}, 2}, {{128, 40, 32769}, 1}, {{128, 40, 65536}, 1}},
                  turing);
}

TEST_CASE("occupancy: blocks larger than a block may be", "[l23][blocks_per_multiprocessor][points:1]") {
  check_occupancy({{{1024, 16, 0}, 2},
                   {{1056, 16, 0}, 0},
                   {{1536, 16, 0}, 0},
                   {{128, 300, 0}, 0},
                   {{128, 40, 232449}, 0},
                   {{256, 128, 16896}, 2}},
                  kH100);
  check_occupancy({{{128, 40, 166912}, 1}, {{128, 40, 166913}, 0}}, kA100);
  Random random(case_seed());
  check_occupancy(random_pairs({2048, 300, 300'000}, kH100, random), kH100);
  Device few = kH100;  // as a kernel is compiled with -maxrregcount=64
  few.name = "an H100 with 64 registers a thread";
  few.thread_registers = 64;
  check_occupancy({{{256, 64, 0}, 4}, {{256, 65, 0}, 0}}, few);
  for (int i = 0; i < 8; ++i) {  // sizes around the limit of the threads, then around all limits
    Device device = i < 4 ? kH100 : random_device(random);
    if (i < 4) {
      device.block_threads = 32 * static_cast<int>(random.integer(2, 48));
      device.name = fmt::format("an H100 with blocks of up to {} threads", device.block_threads);
    }
    check_occupancy(random_pairs({device.block_threads * 5 / 4, device.thread_registers * 9 / 8,
                                  device.block_shared_bytes * 9 / 8},
                                 device, random),
                    device);
  }
}

TEST_CASE("occupancy: refuses a usage that no kernel has", "[l23][blocks_per_multiprocessor][points:1]") {
  check_occupancy({{{128, 40, 0}, 12}}, kH100);
  Random random(case_seed());
  const auto below = [&random](int number) { return number - static_cast<int>(drawn::length(random, 5000)); };
  for (const Usage& usage : {Usage{0, 40, 0}, Usage{below(0), 40, 0}, Usage{128, 0, 0},
                             Usage{128, below(0), 0}, Usage{128, 40, -1}, Usage{128, 40, below(-1)}}) {
    INFO(usage.threads << " threads, " << usage.registers << " registers, " << usage.shared_bytes
                       << " bytes");
    const auto usages = Tensor<int>::from({1, 3}, {usage.threads, usage.registers, usage.shared_bytes});
    Tensor<int> blocks({1});
    require_throws<std::invalid_argument>(call(ENTRY(call_blocks_per_multiprocessor),
                                               host_in(usages, "usages"), host_in(limits_of(kH100), "limits"),
                                               host_out(blocks, "blocks"), 1));
  }
}

TEST_CASE("leaves out what the device has no room for", "[l23][configurations][points:2]") {
  check_candidates(kLarge, kH100, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  check_candidates(kLarge, kL40, {0, 1, 2, 4, 5, 6, 7, 8, 9});  // 135,168 bytes are too many
  check_candidates(kLarge16, kH100, {10, 11, 12, 13, 14});
  check_candidates(kLarge16, kL40, {10, 12, 13, 14});  // and so are 147,456
  const auto with = [](const char* name, auto change) {
    Device device = kH100;
    device.name = name;
    change(device);
    return device;
  };
  check_candidates(kLarge,
                   with("32 KB of shared memory",
                        [](Device& d) { d.shared_bytes = 32 * 1024, d.block_shared_bytes = 31 * 1024; }),
                   {0, 1, 6, 7, 8, 9});
  check_candidates(kLarge, with("16,384 registers", [](Device& d) { d.registers = 16384; }), {4, 5, 6, 7, 9});
  check_candidates(kLarge, with("4 warps", [](Device& d) { d.warps = 4; }), {4, 5, 6, 7, 9});
  check_candidates(kLarge, with("100 registers a thread", [](Device& d) { d.thread_registers = 100; }),
                   {7, 8, 9});
  check_candidates(kLarge, with("nothing", [](Device& d) { d.blocks = 0; }), {});
  Random random(case_seed());
  for (int i = 0; i < 20; ++i) check_random_candidates(random, kLarge, kLarge);
}

TEST_CASE("leaves out tiles that lie outside of C for the most part", "[l23][configurations][points:1]") {
  check_candidates({64, 64, 7}, kH100, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  check_candidates({63, 4096, 7}, kH100, {5, 6, 7, 8, 9});
  check_candidates({4096, 63, 7}, kH100, {4, 6, 7, 8, 9});
  check_candidates({32, 32, 7}, kH100, {6, 7, 8, 9});
  check_candidates({31, 31, 4096}, kH100, {9});
  check_candidates({1, 4096, 7}, kH100, {9});
  check_candidates({std::int64_t{1} << 31, std::int64_t{1} << 31, 1}, kH100, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  check_candidates({0, 0, 0}, kH100, {9});
  check_candidates({40, 4096, 7, Type::bfloat16}, kH100, {12, 13, 14});
  Random random(case_seed());
  for (int i = 0; i < 20; ++i) check_random_candidates(random, {0, 0, 7}, {300, 300, 7});
}

TEST_CASE("search: the least cost, wherever it is", "[l23][best_configuration][points:2]") {
  for (int least = 0; least < kCompiledCount; ++least)
    check_search(kCompiled[least].type == Type::float32 ? kLarge : kLarge16, kH100,
                 costs_with(7.5, {{least, 0.25}}), least);
  check_search(kLarge, kH100, {5, 4, 6, 3, 8, 2, 9, 2.5, 7, 6}, 5);
  check_search(kLarge, kH100, {1e-9, 2e-9, 5e-10, 1, 1, 1, 1, 1, 1, 1}, 2);
  check_search(kLarge, kH100, {0.5, 0.25, 0, -0.5, 3, -3.25, 1, 1, 1, 1}, 5);  // any finite number is a cost
  check_search(kLarge, kL40, costs_with(4, {{3, 0.5}, {6, 2}}), 6);            // the best does not fit there
  check_search({32, 32, 32}, kH100, costs_with(4, {{0, 1}, {8, 3}}), 8);
}

TEST_CASE("search: of equal costs, the first", "[l23][best_configuration][points:1]") {
  check_search(kLarge, kH100, costs_with(3, {}), 0);
  check_search(kLarge, kH100, costs_with(3, {{2, 1}, {5, 1}, {9, 1}}), 2);
  check_search(kLarge, kH100, costs_with(0, {}), 0);
  Random random(case_seed());  // for costs and sizes that nobody knows beforehand
  for (int i = 0; i < 6; ++i) {
    const double usual = drawn::factor(random, 30);
    std::vector<double> costs = costs_with(usual, {});
    for (double& cost : costs)
      if (random.integer(0, 2) == 0) cost = i % 2 == 0 ? usual / 2 : 2 * usual;
    check_search_or_none(drawn_size(random, 100, 9000), kH100, costs);
  }
}

TEST_CASE("search: goes on when a configuration does not run", "[l23][best_configuration][points:2]") {
  check_search(kLarge, kH100, costs_with(2, {{0, kRefused}}), 1);
  check_search(kLarge, kH100, costs_with(kRefused, {{6, 100}}), 6);
  check_search(kLarge, kH100, costs_with(2, {{4, 1}, {9, kRefused}}), 4);
  check_search(kLarge, kH100, costs_with(kNan, {{3, 5}}), 3);
  check_search(kLarge, kH100, costs_with(3, {{1, kNan}, {2, -kInf}, {7, 2}, {8, kInf}}), 7);
  check_search(kLarge, kH100, costs_with(kInf, {{9, 1e300}}), 9);
  Random random(case_seed());
  for (int i = 0; i < 6; ++i) {  // in the last three, one of them alone
    const ProblemSize size = drawn_size(random, 32, 9000);
    std::vector<double> costs = drawn_costs(random);
    if (i >= 3) {
      for (double& cost : costs) cost = drawn_none(random);
      costs[drawn_candidate(size, kH100, random)] = drawn::factor(random, 30);
    }
    check_search_or_none(size, kH100, costs);
  }
}

TEST_CASE("search: says so when nothing runs, and passes on what it does not know",
          "[l23][best_configuration][points:1]") {
  check_search(kLarge, kH100, costs_with(2, {{1, 1}}), 1);
  for (const double cost : {kRefused, kNan, kInf})
    check_no_search<std::runtime_error>(kLarge, kH100, costs_with(cost, {}));
  Device nothing = kH100;
  nothing.name = "a device that holds no block";
  nothing.blocks = 0;
  check_no_search<std::runtime_error>(kLarge, nothing, costs_with(1, {}));
  check_no_search<std::runtime_error>(kLarge, nothing, costs_with(1, {}),
                                      "float32 64 64 16 4 3 4096 4096 4096 " + nothing.name + "\n");
  check_no_search<std::logic_error>(kLarge, kH100, costs_with(2, {{4, kBroken}}));
  check_no_search<std::bad_alloc>(kLarge, kH100, costs_with(2, {{4, kOutOfMemory}}));
  Random random(case_seed());  // for sizes, and places in kCompiled, that nobody knows beforehand
  for (int i = 0; i < 6; ++i) {
    const ProblemSize size = drawn_size(random, 32, 9000);
    std::vector<double> costs = costs_with(random.uniform(), {});  // of those that are none of the candidates
    for (const Configuration& c : candidates_of(size, kH100)) costs[place_of(c)] = drawn_none(random);
    check_search_or_none(size, kH100, costs);
    double& cost = costs[drawn_candidate(size, kH100, random)];
    cost = kBroken;
    check_no_search<std::logic_error>(size, kH100, costs);
    cost = kOutOfMemory;
    check_no_search<std::bad_alloc>(size, kH100, costs);
  }
}

TEST_CASE("cache: what has been found is not searched again", "[l23][best_configuration][points:2]") {
  const std::string entry = "float32 64 64 16 4 3 4096 4096 4096 H100\n";
  {
    INFO("An empty cache");
    const Search found = search(kLarge, kH100, costs_with(2, {{7, 1}}));
    require_ran(found.outcome);
    require_best(found, kCompiled[7]);
    require_cache(found, entry);
  }
  {
    INFO("The cache has it already");
    const Search found = search(kLarge, kH100, costs_with(2, {{1, 1}}), cache_text(entry));
    require_ran(found.outcome);
    require_not_asked(found);
    require_best(found, kCompiled[7]);
    require_cache(found, entry);
  }
  Device other = kH100;
  other.name = "H100 of another kind";
  const auto searched = [&](const char* what, const ProblemSize& size, const Device& device,
                            const std::string& before, const std::string& after, int least = 1) {
    INFO(what);
    const Search found = search(size, device, costs_with(2, {{least, 1}}), cache_text(before));
    require_ran(found.outcome);
    require_best(found, kCompiled[least]);
    require_asked_once(found, candidates_of(size, device));
    require_cache(found, after);
  };
  const std::string best = "float32 128 128 8 8 3 ";
  searched("The cache knows another device", kLarge, other, entry,
           entry + best + "4096 4096 4096 H100 of another kind\n");
  searched("The cache knows another M", {4000, 4096, 4096}, kH100, entry,
           best + "4000 4096 4096 H100\n" + entry);
  searched("The cache knows another N", {4096, 4097, 4096}, kH100, entry,
           entry + best + "4096 4097 4096 H100\n");
  searched("The cache knows another K", {4096, 4096, 64}, kH100, entry, best + "4096 4096 64 H100\n" + entry);
  searched("The cache knows another type", kLarge16, kH100, entry,
           entry + "bfloat16 64 128 64 4 3 4096 4096 4096 H100\n", 12);
  Device smaller = kH100;  // the same name, but a kernel of 135,168 bytes does not fit
  smaller.block_shared_bytes = 99 * 1024;
  searched("The cache knows a configuration that does not fit", kLarge, smaller,
           "float32 128 128 32 8 4 4096 4096 4096 H100\n", best + "4096 4096 4096 H100\n");
  Random random(case_seed());
  for (int i = 0; i < 3; ++i)
    for (const Type type : {Type::float32, Type::bfloat16}) check_drawn_search(type, random);
  for (int i = 0; i < 4; ++i) check_drawn_entry(random);
}

namespace {

const std::string kEntries =
    "float32 128 128 8 8 2 1024 1024 512 NVIDIA A100-SXM4-80GB\n"
    "float32 32 32 16 2 2 1 77 0 NVIDIA H100 80GB HBM3\n"
    "float32 128 64 16 4 3 4096 4096 4096 NVIDIA H100 80GB HBM3\n"
    "bfloat16 128 256 64 8 3 4096 4096 4096 NVIDIA H100 80GB HBM3\n";

}  // namespace

TEST_CASE("cache: read and written again, the text stays as it is",
          "[l23][read_cache][write_cache][points:1]") {
  require_kept(cache_text(kEntries), cache_text(kEntries));
  require_kept(cache_text("float32 128 128 8 8 2 8589934592 3 4 a device\n"),
               cache_text("float32 128 128 8 8 2 8589934592 3 4 a device\n"));
  const std::string of_the_notes =
      "course-autotuning 1 b7921256463fad31\n"
      "float32 128 128 8 8 2 1024 1024 512 NVIDIA A100-SXM4-80GB\n"
      "bfloat16 64 64 64 2 3 640 640 64 NVIDIA H100 80GB HBM3\n";
  require_kept(of_the_notes, of_the_notes);
  require_kept(cache_text(""), cache_text(""));
  require_kept("", cache_text(""));  // before the first search there is no file
  Random random(case_seed());
  for (int i = 0; i < 3; ++i) {
    const std::string drawn = cache_text(lines_of(drawn_cache(random)));
    require_kept(drawn, drawn);
  }
}

TEST_CASE("cache: a damaged text is an empty cache, with a sentence", "[l23][read_cache][points:2]") {
  const std::string whole = cache_text(kEntries);
  require_kept(whole, whole);
  for (std::size_t at = 0; at < whole.size(); at += 5) {  // one character is another one
    std::string damaged = whole;
    damaged[at] = damaged[at] == '1' ? '2' : '1';
    require_refused(damaged);
  }
  for (std::size_t length = 1; length < whole.size(); length += 9)  // the end is missing
    require_refused(whole.substr(0, length));
  require_refused(whole.substr(0, whole.size() - 1));
  require_refused(whole + "float32 128 128 8 8 2 7 7 7 a device\n");
  Random random(case_seed());  // for texts that no kernel knows beforehand
  for (int i = 0; i < 8; ++i) {
    const std::string drawn = cache_text(lines_of(drawn_cache(random)));
    const auto at = static_cast<std::size_t>(random.integer(0, std::ssize(drawn) - 1));
    std::string damaged = drawn;
    damaged[at] = damaged[at] == '1' ? '2' : '1';
    require_refused(damaged);
    require_refused(drawn.substr(0, std::max<std::size_t>(at, 1)));
    require_refused(drawn + "float32 128 128 8 8 2 7 7 7 a device\n");
  }
}

TEST_CASE("cache: a foreign text is an empty cache, with a sentence", "[l23][read_cache][points:1]") {
  require_kept(cache_text(kEntries), cache_text(kEntries));
  require_refused("hello\n");
  require_refused("\n");
  require_refused("{\"version\": 1, \"entries\": []}\n");
  require_refused(fmt::format("course-autotuning 2 {:016x}\n{}", checksum(kEntries), kEntries));
  // The checksum is right, but the line is not.
  require_refused(cache_text("float32 128 128 8 8 2 64 64 64\n"));
  require_refused(cache_text("float32 128 128 8 8 2 64 64 H100\n"));
  require_refused(cache_text("float32 128 128 8 8 2 64 64 64H100\n"));
  require_refused(cache_text("float32 128 128 8 8 2 64 64 64.5 H100\n"));
  require_refused(cache_text("float32 128 128 eight 8 2 64 64 64 H100\n"));
  require_refused(cache_text("float32 256 128 8 8 2 64 64 64 H100\n"));         // there is no such kernel
  require_refused(cache_text(kEntries + "float32 128 128 8 8 2 64 64 64 \n"));  // no device
  require_refused(cache_text("bfloat16 128 128 8 8 2 64 64 64 H100\n"));        // nor such a one
  require_refused(cache_text("float64 128 128 8 8 2 64 64 64 H100\n"));
  require_refused(cache_text("128 128 8 8 2 64 64 64 H100\n"));
  require_refused(cache_text("\n" + kEntries));
  Random random(case_seed());
  require_refused(cache_text(lines_of(drawn_cache(random)) + "float64 128 128 8 8 2 64 64 64 H100\n"));
  for (const std::int64_t version : {std::int64_t{0}, random.integer(3, 9), random.integer(10, 99)})
    require_refused(fmt::format("course-autotuning {} {:016x}\n{}", version, checksum(kEntries), kEntries));
  require_refused(cache_text("float32 99999999999 128 8 8 2 64 64 64 H100\n"));
  // The first line says the same in other characters.
  const std::string sum = fmt::format("{:016x}", checksum(kEntries));
  require_refused(fmt::format("course-autotuning 1 {:016X}\n{}", checksum(kEntries), kEntries));
  for (const char* written : {"course-autotuning  1 {}\n{}", "course-autotuning 1 {} \n{}",
                              "course-autotuning 1 0x{}\n{}", " course-autotuning 1 {}\n{}",
                              "course-autotuning 01 {}\n{}", "course-autotuning 1 {} of a friend\n{}"})
    require_refused(fmt::format(fmt::runtime(written), sum, kEntries));
}

TEST_CASE("cache: refuses names that it could not read again", "[l23][write_cache][points:1]") {
  require_ran(search(kLarge, kH100, costs_with(1, {})).outcome);
  Random random(case_seed());  // for names that no kernel knows beforehand
  std::string broken = "a device of " + std::to_string(random.bits());
  broken[static_cast<std::size_t>(random.integer(0, std::ssize(broken) - 1))] = '\n';
  const std::string indented(static_cast<std::size_t>(random.integer(1, 9)), ' ');
  for (const std::string& name : {std::string(), std::string(" H100"), std::string("\tH100"),
                                  std::string{"\v\f\r"[random.integer(0, 2)]} + "H100", indented + "device",
                                  std::string("H100\nfloat32 128 128 8 8 2 1 1 1 H100"), broken}) {
    Device device = kH100;
    device.name = name;
    INFO("The device is called \"" << name << "\"");
    require_throws<std::invalid_argument>(search(kLarge, device, costs_with(1, {})).outcome);
  }
}

TEST_CASE("multiplies with every kernel for float32, and all give the same bits",
          "[l23][matmul_with][points:2]") {
  const Problem p = random_problem(70, 195, 25);  // by tiles of 64: 4 across, 2 of 128
  Tensor<float> first({p.M(), p.N()}), C({p.M(), p.N()});
  for (const Configuration& c : kCompiled) {
    if (c.type != Type::float32) continue;
    check_product(p, c, C);
    if (c == kCompiled[0]) first = C;
    INFO("configuration " << text_of(c) << ", beside " << text_of(kCompiled[0]));
    require_same_bits(C, first, "C");
  }
}

TEST_CASE("multiplies with every kernel for bfloat16", "[l23][matmul_with][points:1]") {
  for (const Configuration& c : kCompiled) {
    if (c.type != Type::bfloat16) continue;
    check_product(random_problem(70, 200, 40), c);
    check_product(problem_of_no_depth(7, 8), c);
  }
}

TEST_CASE("multiplies matrices of other shapes and strides", "[l23][matmul_with][points:2]") {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  const auto [deepest, wide, tall, smallest] =
      std::array{kCompiled[3], kCompiled[5], kCompiled[4], kCompiled[9]};
  check_product(random_problem(128, 128, 40), deepest);
  check_product(random_problem(72, 44, 50, column_major, row_major, column_major), wide);
  check_product(random_problem(131, 133, 20, column_major, column_major, column_major), tall);
  check_product(random_problem(65, 96, 33, row_major, column_major), smallest);
  check_product(random_problem(1, 161, 77), smallest);
  for (const Configuration& of_many_tiles : {smallest, kCompiled[14]})
    check_product(random_problem(300, 40, 24), of_many_tiles, {.check = CheckMode::never});
  for (const CallOptions& shifted : with_shifted_arrays(3)) {
    INFO("Arrays are parts of larger ones: one or more begin at no multiple of 16 bytes");
    check_product(random_problem(40, 48, 24), smallest, shifted);
  }
  check_product(random_problem(35, 40, 0), deepest);
  check_product(problem_of_no_depth(35, 40), deepest);
  check_product(random_problem(0, 5, 7), wide);
  check_product(random_problem(5, 0, 7), wide);
  // And all kernels, with sizes and strides that nobody knows beforehand.
  Random random(case_seed());
  for (const Configuration& c : kCompiled) {
    const auto strides = [&](std::int64_t rows, std::int64_t cols) {
      return drawn::strides(rows, cols, random);
    };
    const bool in_chunks = c.type == Type::bfloat16;
    const auto of_operand = [&](std::int64_t rows, std::int64_t cols) {
      return in_chunks ? Strides{cols + 8 * random.integer(1, 3), 1} : strides(rows, cols);
    };
    const std::int64_t unit = in_chunks ? 8 : 1, least = in_chunks ? 2 : 9, longest = random.integer(0, 2),
                       longer = random.integer(1, 6);  // one of the sizes
    const auto size = [&](std::int64_t number) {
      return unit * random.integer(least, least + (in_chunks ? 3 : 31)) * (number == longest ? longer : 1);
    };
    const std::int64_t M = random.integer(9, 40) * (longest == 0 ? longer : 1), N = size(1), K = size(2);
    const Problem dense = random_problem(M, N, K);
    check_product(
        {laid_out(drawn::times(dense.A, drawn::factor(random)), of_operand(M, K), nan),
         laid_out(drawn::times(dense.B, drawn::factor(random)), of_operand(K, N), nan), strides(M, N)},
        c);
  }
}

TEST_CASE("refuses a kernel that there is not, shapes that do not fit, and a launch that CUDA refuses",
          "[l23][matmul_with][points:1]") {
  const Problem p = random_problem(70, 40, 20);
  check_product(p, kCompiled[9]);
  Tensor<float> C({70, 40});
  Configuration unknown = kCompiled[9];
  unknown.stages = 3;
  {
    INFO("configuration " << text_of(unknown));
    require_throws<std::invalid_argument>(multiply(p, C, unknown));
  }
  for (const auto& [b, c, argument] :
       {std::tuple{Shape{20, 40}, Shape{70, 41}, "C"}, {Shape{21, 40}, Shape{70, 40}, "B"}}) {
    INFO("A: shape (70, 20); B: shape " << format_shape(b) << "; C: shape " << format_shape(c));
    Tensor<float> of_that_shape(c);
    require_throws<std::invalid_argument>(
        multiply({p.A, Tensor<float>(b, 1.0f), {40, 1}}, of_that_shape, kCompiled[9]), argument);
  }
  Random random(case_seed());  // for what no kernel knows beforehand
  for (const Type type : {Type::float32, Type::bfloat16})
    for (int i = 0; i < 4; ++i) {
      const Configuration none = unknown_configuration(type, random);
      INFO("configuration " << text_of(none));
      require_throws<std::invalid_argument>(multiply(random_problem(70, 40, 24), C, none));
      Tensor<float> empty({0, 40});  // what cannot be computed is refused even where there is nothing to do
      require_throws<std::invalid_argument>(multiply(random_problem(0, 40, 24), empty, none));
    }
  for (const Type type : {Type::float32, Type::bfloat16}) {
    const std::size_t index = random_index(type, random);
    const std::int64_t M = random.integer(2, 90), N = 8 * random.integer(1, 10),
                       K = 8 * random.integer(1, 10);
    INFO("configuration " << text_of(kCompiled[index]));
    for_misfits(M, N, K, random, [&](const Shape& b, const Shape& c, const char* argument) {
      INFO("A: shape " << format_shape({M, K}) << "; B: shape " << format_shape(b) << "; C: shape "
                       << format_shape(c));
      Tensor<float> of_that_shape(c);
      require_throws<std::invalid_argument>(
          multiply({Tensor<float>({M, K}, 1.0f), Tensor<float>(b, 1.0f), {N, 1}}, of_that_shape,
                   kCompiled[index]),
          argument);
    });
  }
  const Problem p16 = random_problem(70, 40, 24);
  {
    INFO("configuration " << text_of(kCompiled[9]) << ", of the other type");
    Configuration other = kCompiled[9];
    other.type = Type::bfloat16;
    require_throws<std::invalid_argument>(multiply(p16, C, other));
  }
  check_chunks_along_rows(random);
  CallOptions one_block;
  one_block.max_grid_x = 1;
  for (const Type type : {Type::float32, Type::bfloat16}) {
    const Configuration& c = kCompiled[random_index(type, random)];
    INFO("configuration " << text_of(c));
    Tensor<float> of_blocks({272, 40});  // of each of the kernels, more than one
    require_refused_launch(multiply(random_problem(272, 40, 24), of_blocks, c, one_block));
  }
}

TEST_CASE("times a kernel: once for the caches, then as often as is said", "[l23][milliseconds][points:1]") {
  Random random(case_seed());
  for (const Type type : {Type::float32, Type::bfloat16}) check_milliseconds(type, random);
}

TEST_CASE("search: with the bound from what the simulator counts", "[l23][best_configuration][points:1]") {
  const std::int64_t K = 32;
  const std::vector<double> cycles = cycles_of_blocks(Type::float32, K);
  if (cycles.empty()) return;
  const auto costs_for = [&](const ProblemSize& size, const Device& device) {
    return bounds_of(cycles, size, device);
  };
  const std::vector<double> large = costs_for(kLarge, kH100);
  INFO("4096 x 4096; " << describe(large));
  require(large[6] < large[7] && large[7] < large[8],
          "With fewer elements a thread, a kernel needs more reads of shared memory for its multiply-adds, "
          "but fewer instructions were counted: does each configuration launch its own kernel?");
  require_stages(Type::float32);
  check_search(kLarge, kH100, large, 3);                                   // one barrier for 32 steps of k
  check_search(kLarge, kL40, costs_for(kLarge, kL40), 6);                  // 29 rounds, not 4 · 8
  check_search({256, 256, K}, kH100, costs_for({256, 256, K}, kH100), 9);  // 64 blocks, not 4
  check_search({640, 640, K}, kH100, costs_for({640, 640, K}, kH100), 6);  // 100 blocks, not 25 or 400
}

TEST_CASE("search: with the bound of kernels on tensor cores", "[l23][best_configuration][points:1]") {
  const std::int64_t K = 64;
  const std::vector<double> cycles = cycles_of_blocks(Type::bfloat16, K);
  if (cycles.empty()) return;
  const auto check = [&](std::int64_t side, const Device& device, int wanted) {
    const ProblemSize size{side, side, K, Type::bfloat16};
    check_search(size, device, bounds_of(cycles, size, device), wanted);
  };
  const std::vector<double> large = bounds_of(cycles, kLarge16, kH100);
  INFO("4096 x 4096; " << describe(large));
  require(large[10] < large[12] && large[12] < large[14],
          "With a smaller piece of C a warp, each number that it reads serves fewer multiply-adds, but fewer "
          "wavefronts were counted: does each configuration launch its own kernel?");
  require_stages(Type::bfloat16);
  check(4096, kH100, 10);  // 64 x 64 a warp, as in the larger tile
  check(1024, kH100, 12);  // 128 blocks, not 64 or 256
  check(640, kH100, 13);   // 100 blocks, not 50 or 400
  check(256, kH100, 14);
}

COURSE_RUN(RunContext& run) {
  const auto a = run.input<float>("a", {"m", "k"}), b = run.input<float>("b", {"k", "n"});
  Tensor<float> c({a.shape()[0], b.shape()[1]});
  run.call(ENTRY(call_matmul_with), in(a, "A"), in(b, "B"), out(c, "C"), 64, 64, 16, 4, 3);
  run.output("c", c);
}
