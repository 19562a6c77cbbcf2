// Tests of lesson 23: occupancy against pairs from CUDA's own calculator, what is left out, searches with
// made-up costs and with the bound from what check mode counts, caches that are damaged, and the products.

#include "23_autotuning/autotuning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <new>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "drawn/drawn.hpp"
#include "grading/testing/lesson_test.hpp"
#include "products/problem.hpp"
#include "products/stages.hpp"
#include "reference/matmul.hpp"
#include "tensor/float16.hpp"
#include "tensor/format.hpp"
#include "tensor/random.hpp"
#include "tensor/tensor.hpp"

using namespace course;
using namespace course::grading;
using namespace course::products;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

const char* name_of(Type type) { return type == Type::float32 ? "float32" : "bfloat16"; }

std::string text_of(const Configuration& c) {
  return fmt::format("{} {} {} {} {} {}", name_of(c.type), c.rows, c.cols, c.depth, c.warps, c.stages);
}

// --- Devices ---

const Device kH100{.name = "H100"};
const Device kA100{
    .name = "A100", .multiprocessors = 108, .shared_bytes = 164 * 1024, .block_shared_bytes = 163 * 1024};
const Device kL40{.name = "L40",
                  .multiprocessors = 142,
                  .warps = 48,
                  .blocks = 24,
                  .shared_bytes = 100 * 1024,
                  .block_shared_bytes = 99 * 1024};

Tensor<int> limits_of(const Device& d) {
  return Tensor<int>::from(
      {9}, {d.multiprocessors, d.warps, d.blocks, d.registers, d.shared_bytes, d.block_shared_bytes,
            d.reserved_shared_bytes, d.block_threads, d.thread_registers});
}

/// Small whole numbers as results: exact in both types.
Tensor<float> as_float(const Tensor<int>& x) { return x.to<float>(); }

// --- Occupancy ---

/// A usage, and what cuda_occupancy.h (CUDA 13.0) says of it with all shared memory carved out.
struct Pair {
  Usage usage;
  int blocks;
};

/// How a wrong calculation counts. By default, it counts right.
struct Wrong {
  bool warps_rounded_down = false, blocks_ignored = false, registers_ignored = false, shared_ignored = false,
       registers_by_block = false, unit_ignored = false, partitions_ignored = false, reserve_ignored = false,
       shared_unit_ignored = false, rounded_apart = false, limits_of_blocks_ignored = false;
};

int rounded(int x, int unit) { return (x + unit - 1) / unit * unit; }

int blocks_of(const Usage& u, const Device& d, const Wrong& wrong) {
  if (!wrong.limits_of_blocks_ignored && (u.threads > d.block_threads || u.registers > d.thread_registers ||
                                          u.shared_bytes > d.block_shared_bytes))
    return 0;
  const int warps = std::max(1, wrong.warps_rounded_down ? u.threads / 32 : (u.threads + 31) / 32);
  int most = d.warps / warps;
  if (!wrong.blocks_ignored) most = std::min(most, d.blocks);
  if (!wrong.registers_ignored) {
    const int of_warp = wrong.unit_ignored ? 32 * u.registers : rounded(32 * u.registers, kRegisterUnit);
    if (wrong.registers_by_block) {
      most = std::min(most, d.registers / (u.threads * u.registers));
    } else if (wrong.partitions_ignored) {
      most = std::min(most, d.registers / of_warp / warps);
    } else {
      most = std::min(most, d.registers / kPartitions / of_warp * kPartitions / warps);
    }
  }
  if (!wrong.shared_ignored) {
    const int asked = u.shared_bytes + (wrong.reserve_ignored ? 0 : d.reserved_shared_bytes);
    const int bytes = wrong.shared_unit_ignored ? asked
                      : wrong.rounded_apart ? rounded(u.shared_bytes, kSharedUnit) + d.reserved_shared_bytes
                                            : rounded(asked, kSharedUnit);
    if (bytes > 0) most = std::min(most, d.shared_bytes / bytes);
  }
  return most;
}

Mistakes mistakes_of_occupancy(const std::vector<Pair>& pairs, const Device& device) {
  Mistakes mistakes;
  const auto counted = [&](const char* name, Wrong wrong, const char* sentence) {
    mistakes.push_back(gives(
        name,
        [=, &pairs, &device] {
          Tensor<double> blocks({static_cast<std::int64_t>(pairs.size())});
          for (std::size_t i = 0; i < pairs.size(); ++i) blocks(i) = blocks_of(pairs[i].usage, device, wrong);
          return blocks;
        },
        sentence));
  };
  counted("warps_rounded_down", {.warps_rounded_down = true},
          "The last warp of a block counts even if it is not full: threads / 32 has to be rounded up.");
  counted("blocks_ignored", {.blocks_ignored = true},
          "A multiprocessor holds at most device.blocks blocks, however small they are.");
  counted("registers_ignored", {.registers_ignored = true}, "The registers are not counted.");
  counted("shared_memory_ignored", {.shared_ignored = true}, "The shared memory is not counted.");
  counted("registers_by_thread", {.registers_by_block = true},
          "Registers are given to whole warps: 32 * registers, rounded up to kRegisterUnit.");
  counted("register_unit_ignored", {.unit_ignored = true},
          "The registers of a warp are to be rounded up to kRegisterUnit.");
  counted("partitions_ignored", {.partitions_ignored = true},
          "A multiprocessor has its registers in kPartitions parts, and no warp has some of two: count the "
          "warps of one part, then those of all.");
  counted("reserve_ignored", {.reserve_ignored = true},
          "Each block takes reserved_shared_bytes of shared memory besides its own.");
  counted("shared_unit_ignored", {.shared_unit_ignored = true},
          "The shared memory of a block is to be rounded up to kSharedUnit.");
  counted("rounded_apart", {.rounded_apart = true},
          "What a block asks for and what the system takes are rounded up together, not apart.");
  counted(
      "limits_of_a_block_ignored", {.limits_of_blocks_ignored = true},
      "A block that is larger than a block may be does not run at all: block_threads, thread_registers and "
      "block_shared_bytes are limits, too.");
  return mistakes;
}

void check_occupancy(const std::vector<Pair>& pairs, const Device& device) {
  const auto count = static_cast<std::int64_t>(pairs.size());
  Tensor<int> usages({count, 3}), blocks({count});
  Tensor<double> expected({count});
  std::string list;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto& [usage, wanted] = pairs[static_cast<std::size_t>(i)];
    usages(i, 0) = usage.threads, usages(i, 1) = usage.registers, usages(i, 2) = usage.shared_bytes;
    expected(i) = wanted;
    list += fmt::format("{}[{}] {} threads, {} registers, {} bytes", i == 0 ? "" : "; ", i, usage.threads,
                        usage.registers, usage.shared_bytes);
  }
  INFO(device.name << ": " << list);
  require_ran(call(ENTRY(call_blocks_per_multiprocessor), host_in(usages, "usages"),
                   host_in(limits_of(device), "limits"), host_out(blocks, "blocks"),
                   static_cast<int>(count)));
  require_matches(as_float(blocks), "blocks", expected, expected.to<float>(),
                  mistakes_of_occupancy(pairs, device));
}

/// A device whose limits nobody knows beforehand.
Device random_device(Random& random) {
  const auto up_to = [&](int least, int most) { return static_cast<int>(random.integer(least, most)); };
  Device device = kH100;
  device.warps = up_to(2, 64), device.blocks = up_to(1, 32);
  device.registers = 256 * up_to(48, 512), device.thread_registers = up_to(64, 255);
  device.block_threads = 32 * up_to(2, 48);
  device.block_shared_bytes = 1024 * up_to(8, 227);
  device.shared_bytes = device.block_shared_bytes + 1024 * up_to(1, 100);
  device.reserved_shared_bytes = up_to(0, 2000);
  device.name = fmt::format(
      "{} warps, {} blocks, {} registers, {} a thread, {} threads and {} bytes of shared memory for a block, "
      "{} of the system's",
      device.warps, device.blocks, device.registers, device.thread_registers, device.block_threads,
      device.block_shared_bytes, device.reserved_shared_bytes);
  return device;
}

/// Usages that nobody knows beforehand, with every number up to these.
std::vector<Pair> random_pairs(const Usage& largest, const Device& device, Random& random) {
  constexpr int kCount = 12;
  const auto up_to = [&](int least, int most) { return static_cast<int>(random.integer(least, most)); };
  std::vector<Pair> pairs;
  for (int i = 0; i < kCount; ++i) {
    const Usage usage{up_to(1, largest.threads), up_to(1, largest.registers), up_to(0, largest.shared_bytes)};
    pairs.push_back({usage, blocks_of(usage, device, {})});
  }
  return pairs;
}

// --- Configurations ---

/// @brief What the kernel of a configuration takes. padding: floats that are left over for each step of k, in
/// float32.
Usage usage_of_kernel(const Configuration& c, int padding = 8) {
  const bool float32 = c.type == Type::float32;
  const int sums = c.rows * c.cols / (32 * c.warps);
  return {32 * c.warps,
          float32       ? 64 + sums
          : sums == 128 ? 255
          : sums == 64  ? 168
                        : 128,
          c.stages * c.depth * (float32 ? 4 * (c.rows + c.cols + padding) : 2 * (c.rows + c.cols))};
}

bool is_too_large(const Configuration& c, const ProblemSize& size) {
  return (c.rows > 2 * size.M && c.rows > kSmallestTile) || (c.cols > 2 * size.N && c.cols > kSmallestTile);
}

Tensor<int> rows_of(const std::vector<Configuration>& list) {
  Tensor<int> rows({static_cast<std::int64_t>(list.size()), kFields});
  for (std::size_t i = 0; i < list.size(); ++i) write_row(list[i], &rows(static_cast<std::int64_t>(i), 0));
  return rows;
}

Configuration row_of(const Tensor<int>& rows, std::int64_t i) { return read_row(&rows(i, 0)); }

std::string text_of(const ProblemSize& size) {
  return fmt::format("M = {}, N = {}, K = {}, {}", size.M, size.N, size.K, name_of(size.type));
}

std::vector<Configuration> candidates_of(const ProblemSize& size, const Device& device) {
  Tensor<int> found({kCompiledCount, kFields}), count({1});
  require_ran(call(ENTRY(call_configurations), size.M, size.N, size.K, static_cast<int>(size.type),
                   host_in(limits_of(device), "limits"), host_out(found, "found"), host_out(count, "count")));
  std::vector<Configuration> list;
  for (int i = 0; i < std::min(count(0), kCompiledCount); ++i) list.push_back(row_of(found, i));
  return list;
}

/// expected: places in kCompiled.
void check_candidates(const ProblemSize& size, const Device& device, const std::vector<int>& expected) {
  INFO(text_of(size) << "; device: " << device.name);
  const std::vector<Configuration> found = candidates_of(size, device);
  const auto has = [](const std::vector<Configuration>& list, const Configuration& c) {
    return std::find(list.begin(), list.end(), c) != list.end();
  };
  std::vector<Configuration> wanted;
  for (const int i : expected) wanted.push_back(kCompiled[i]);
  for (const Configuration& c : kCompiled) {
    require(!has(found, c) || has(wanted, c),
            c.type != size.type
                ? fmt::format("{} is among the configurations, though it is for another type.", text_of(c))
            : is_too_large(c, size)
                ? fmt::format("{} is among the configurations, though more than half of its tile lies "
                              "outside of C along one side.",
                              text_of(c))
                : fmt::format("{} is among the configurations, though the device does not hold even one "
                              "block of it.",
                              text_of(c)));
    require(has(found, c) || !has(wanted, c),
            fmt::format("{} is not among the configurations, though it runs on this device and its tile is "
                        "not too large.",
                        text_of(c)));
  }
  require(found == wanted, "The configurations are not in the order of kCompiled, or one is there twice.");
}

/// Checks the candidates of a device and a size that nobody knows beforehand.
void check_random_candidates(Random& random, const ProblemSize& least, const ProblemSize& most) {
  const Device device = random_device(random);
  const ProblemSize size{random.integer(least.M, most.M), random.integer(least.N, most.N), 64,
                         random.integer(0, 1) == 0 ? Type::float32 : Type::bfloat16};
  std::vector<int> expected;
  for (int i = 0; i < kCompiledCount; ++i) {
    const Configuration& c = kCompiled[i];
    if (c.type == size.type && !is_too_large(c, size) && blocks_of(usage_of_kernel(c), device, {}) > 0)
      expected.push_back(i);
  }
  check_candidates(size, device, expected);
}

// --- Searches ---

std::string cache_text(const std::string& lines) {
  return fmt::format("course-autotuning 1 {:016x}\n{}", checksum(lines), lines);
}

Tensor<char> buffer_of(const std::string& text) {
  Tensor<char> buffer({kTextBytes});
  for (std::size_t i = 0; i < text.size(); ++i) buffer(i) = text[i];
  return buffer;
}

std::string text_in(const Tensor<char>& buffer) {
  std::string text(buffer.storage().begin(), buffer.storage().end());
  return text.substr(0, text.find('\0'));
}

struct Search {
  Outcome outcome;
  Configuration best{};
  std::vector<int> asked;
  std::string cache;  ///< as text, after the search
};

/// Costs of kCompiled: `usual`, but for some. Of shorter lists, the last counts for the rest.
std::vector<double> costs_with(double usual, std::vector<std::pair<int, double>> some) {
  std::vector<double> costs(kCompiledCount, usual);
  for (const auto& [index, cost] : some) costs[static_cast<std::size_t>(index)] = cost;
  return costs;
}

Search search(const ProblemSize& size, const Device& device, std::vector<double> costs,
              const std::string& cache = "") {
  costs.resize(kCompiledCount, costs.back());
  Tensor<int> asked({kCompiledCount}), best({1, kFields});
  Tensor<char> text = buffer_of(cache), name = buffer_of(device.name);
  const Tensor<double> cost = Tensor<double>::from({kCompiledCount}, costs);
  Search result;
  result.outcome = call(ENTRY(call_best_configuration), size.M, size.N, size.K, static_cast<int>(size.type),
                        host_in(name, "device"), host_in(limits_of(device), "limits"), host_in(cost, "costs"),
                        host_out(asked, "asked"), host_out(best, "best"), host_inout(text, "cache"));
  result.best = row_of(best, 0);
  result.asked.assign(asked.storage().begin(), asked.storage().end());
  result.cache = text_in(text);
  return result;
}

std::string describe(const std::vector<double>& costs) {
  std::string text = "costs:";
  for (const double cost : costs)
    text += cost == kRefused       ? " refused"
            : cost == kBroken      ? " broken"
            : cost == kOutOfMemory ? " out of memory"
                                   : fmt::format(" {}", cost);
  return text;
}

void require_asked_once(const Search& found, const std::vector<Configuration>& candidates) {
  for (int i = 0; i < kCompiledCount; ++i) {
    const Configuration& c = kCompiled[i];
    const int asked = found.asked[static_cast<std::size_t>(i)] % kTooLate;
    require(found.asked[static_cast<std::size_t>(i)] == asked,
            fmt::format("The cost of {} was asked for after that of a later one: configurations are tried in "
                        "their order.",
                        text_of(c)));
    const int wanted = std::find(candidates.begin(), candidates.end(), c) != candidates.end();
    require(asked == wanted,
            fmt::format("The cost of {} was asked for {} times, not {}: {}", text_of(c), asked, wanted,
                        wanted == 0 ? "it is none of configurations()."
                        : asked > 1 ? "measuring is what costs time, so once has to do."
                                    : "each of configurations() has to be tried."));
  }
}

/// The search has found kCompiled[wanted], and asked once for the cost of each candidate.
void check_search(const ProblemSize& size, const Device& device, const std::vector<double>& costs,
                  int wanted) {
  INFO(text_of(size) << "; " << describe(costs));
  const Search found = search(size, device, costs);
  require_ran(found.outcome);
  require(found.best == kCompiled[wanted],
          fmt::format("The result is {}, expected {}.", text_of(found.best), text_of(kCompiled[wanted])));
  require_asked_once(found, candidates_of(size, device));
}

constexpr ProblemSize kLarge{4096, 4096, 4096}, kLarge16{4096, 4096, 4096, Type::bfloat16};

// --- The product ---

/// The same problem, its numbers rounded to the type of the configuration.
Problem in_type_of(const Configuration& c, Problem p) {
  if (c.type == Type::float32) return p;
  p.A = p.A.to<bfloat16>().to<float>();
  p.B = p.B.to<bfloat16>().to<float>();
  return p;
}

Outcome multiply(const Problem& p, Tensor<float>& C, const Configuration& c,
                 const CallOptions& options = {}) {
  if (c.type == Type::bfloat16)
    return call_with(options, ENTRY(call_matmul_with_bfloat16), in(p.A.to<bfloat16>(), "A"),
                     in(p.B.to<bfloat16>(), "B"), out(C, "C"), c.rows, c.cols, c.depth, c.warps, c.stages);
  return call_with(options, ENTRY(call_matmul_with), in(p.A, "A"), in(p.B, "B"), out(C, "C"), c.rows, c.cols,
                   c.depth, c.warps, c.stages);
}

/// Of one of kCompiled, of that type.
std::size_t random_index(Type type, Random& random) {
  for (;;)
    if (const auto index = static_cast<std::size_t>(random.integer(0, kCompiledCount - 1));
        kCompiled[index].type == type)
      return index;
}

/// None of kCompiled: one of them with another number in one place.
Configuration unknown_configuration(Type type, Random& random) {
  constexpr int Configuration::*kNumbers[] = {&Configuration::rows, &Configuration::cols,
                                              &Configuration::depth, &Configuration::warps,
                                              &Configuration::stages};
  for (;;) {
    Configuration c = kCompiled[random_index(type, random)];
    int& number = c.*kNumbers[random.integer(0, std::ssize(kNumbers) - 1)];
    number = random.integer(0, 1) == 0 ? 2 * number : number + 1;
    if (std::find(std::begin(kCompiled), std::end(kCompiled), c) == std::end(kCompiled)) return c;
  }
}

std::int64_t tiles_of(const ProblemSize& size, const Configuration& c) {
  return ((size.M + c.rows - 1) / c.rows) * ((size.N + c.cols - 1) / c.cols);
}

Outcome check_product(const Problem& any, const Configuration& c, Tensor<float>& C,
                      const CallOptions& options = {}) {
  const Problem p = in_type_of(c, any);
  INFO(products::describe(p) << "; configuration " << text_of(c));
  const Outcome outcome = multiply(p, C, c, options);
  require_ran(outcome);
  const Tensor<double> expected = reference::matmul(p.A, p.B);
  Mistakes mistakes{unwritten_where(
      "first_tile_only", [&](const Index& at) { return at[0] >= c.rows || at[1] >= c.cols; },
      "Only the first tile of C is right: the grid has a block for each tile, across and down.")};
  if (p.M() > c.rows)
    mistakes.push_back(unwritten_where(
        "last_tiles_down_missing", [&](const Index& at) { return at[0] >= p.M() / c.rows * c.rows; },
        "The last tiles down C, which it does not fill, are missing: their number has to be rounded up."));
  if (p.N() > c.cols)
    mistakes.push_back(unwritten_where(
        "last_tiles_across_missing", [&](const Index& at) { return at[1] >= p.N() / c.cols * c.cols; },
        "The last tiles across C, which it does not fill, are missing: their number has to be rounded up."));
  Bound bound;
  if (c.type == Type::bfloat16) bound.rounding = cost_of_cutting_off(p);
  require_matches(C.contiguous(), "C", expected, in_order_of_k(p, expected), mistakes, bound);
  const std::int64_t tiles = tiles_of({p.M(), p.N(), p.K()}, c);
  const std::int64_t launches = outcome.counters.at("launches");
  require(launches == (tiles > 0), fmt::format("matmul_with launched {} kernels; it should launch {}.",
                                               launches, tiles > 0 ? "one" : "none"));
  if (tiles == 0) return outcome;
  products::require_tiles_shared(outcome, p, {c.rows, c.cols}, c.type == Type::float32 ? 4 : 2);
  if (c.type == Type::bfloat16)
    require_on_tensor_cores(outcome, static_cast<std::uint64_t>(p.M() * p.N() * p.K()));
  const std::int64_t blocks = outcome.counters.at("blocks"), threads = outcome.counters.at("threads");
  require(
      blocks == tiles && threads == tiles * 32 * c.warps,
      fmt::format("The launch had {} blocks of {} threads; C has {} tiles, and the configuration {} warps.",
                  blocks, threads / blocks, tiles, c.warps));
  return outcome;
}

Outcome check_product(const Problem& p, const Configuration& c, const CallOptions& options = {}) {
  Tensor<float> C({p.M(), p.N()}, p.c_strides, -1000.0f);
  return check_product(p, c, C, options);
}

/// Each kernel for that type has as many stages as its configuration says.
void require_stages(Type type) {
  Random random(case_seed());
  for (const Configuration& c : kCompiled) {
    if (c.type != type) continue;
    // Of sizes that no kernel knows beforehand: one tile, of which up to two rows are missing, or two.
    const int slabs = c.stages + static_cast<int>(random.integer(1, 3));
    const std::int64_t rows = c.rows * random.integer(1, 2);
    const Problem p = random_problem(rows - random.integer(0, 2), c.cols, slabs * c.depth);
    const Outcome outcome = check_product(p, c, {.check = CheckMode::always});
    const Profile* profile = profile_of(outcome);
    if (!profile) return;
    INFO(products::describe(p) << "; configuration " << text_of(c));
    if (type == Type::float32) products::require_register_tile(*profile, rows * p.N() * p.K());
    const bool reads_early = type == Type::bfloat16;  // the first fragments of a slab, before the next fetch
    const std::int64_t bytes_of_slab = (c.rows + c.cols) * c.depth * (type == Type::float32 ? 4 : 2);
    const double mean = mean_ahead(profile->launches.at(0).copies_ahead.of_shared_loads,
                                   profile->shared_load.bytes_asked),
                 least =
                     0.9 * ahead_on_average(slabs, c.stages - reads_early, bytes_of_slab / (32 * c.warps)),
                 most = 1.1 * ahead_on_average(slabs, c.stages, bytes_of_slab / (32 * c.warps));
    require(mean >= least,
            fmt::format("While a thread multiplies, {:.1f} bytes of its copies are on their way on average. "
                        "With {} stages it is {:.1f} or more: does each configuration launch its own kernel?",
                        mean, c.stages, least));
    require(mean <= most,
            fmt::format("While a thread multiplies, {:.1f} bytes of its copies are on their way on average. "
                        "{} stages have room for {:.1f}: does each configuration launch its own kernel?",
                        mean, c.stages, most));
  }
}

// --- The bound from what check mode counts ---

/// @brief Cycles that a multiprocessor needs at least for what one block does: its four schedulers issue an
/// instruction of a warp a cycle each, its shared memory serves a wavefront a cycle, and its tensor cores do
/// 2048 multiply-adds.
double cycles_of(const Profile& block) {
  const std::uint64_t instructions = block.float_instructions + block.special_instructions +
                                     block.matrix_instructions + block.shared_load.requests +
                                     block.shared_store.requests + block.global_load.requests +
                                     block.global_store.requests + block.barriers;
  return std::max({static_cast<double>(instructions) / 4,
                   static_cast<double>(block.shared_load.wavefronts + block.shared_store.wavefronts),
                   static_cast<double>(block.matrix_float16) / 2048});
}

/// What one block of each kernel for that type takes, for K steps of k; 0 for the other kernels. Empty on a
/// GPU, where nothing is counted.
std::vector<double> cycles_of_blocks(Type type, std::int64_t K) {
  std::vector<double> cycles(kCompiledCount, 0);
  for (std::size_t i = 0; i < cycles.size(); ++i) {
    const Configuration& c = kCompiled[i];
    if (c.type != type) continue;
    const Outcome outcome = check_product(random_problem(c.rows, c.cols, K), c);
    const Profile* profile = profile_of(outcome);
    if (!profile) return {};
    cycles[i] = cycles_of(*profile);
  }
  return cycles;
}

/// The cost of each kernel: what its blocks take on the busiest multiprocessor.
std::vector<double> bounds_of(const std::vector<double>& cycles, const ProblemSize& size,
                              const Device& device) {
  std::vector<double> costs;
  for (std::size_t i = 0; i < cycles.size(); ++i)
    costs.push_back(std::ceil(static_cast<double>(tiles_of(size, kCompiled[i])) / device.multiprocessors) *
                    cycles[i]);
  return costs;
}

}  // namespace

namespace {

/// Configurations that are not in kCompiled, and that nobody knows beforehand.
std::vector<Configuration> other_configurations() {
  constexpr std::size_t kCount = 20;
  Random random(case_seed());
  std::vector<Configuration> all;
  while (all.size() < kCount) {
    const auto power = [&](int least, int most) { return 1 << random.integer(least, most); };
    const Type type = random.integer(0, 1) == 0 ? Type::float32 : Type::bfloat16;
    const Configuration c{
        power(5, 8), power(5, 8), power(3, 6), power(0, 3), static_cast<int>(random.integer(2, 5)), type};
    const int sums = c.rows * c.cols / (32 * c.warps);  // what a thread's registers hold
    if (sums == 32 || sums == 64 || sums == (type == Type::float32 ? 16 : 128)) all.push_back(c);
  }
  return all;
}

void check_usages(const std::vector<Configuration>& all) {
  const auto count = static_cast<std::int64_t>(all.size());
  Tensor<int> usages({count, 3});
  require_ran(call(ENTRY(call_usage_of), host_in(rows_of(all), "configurations"), host_out(usages, "usages"),
                   static_cast<int>(count)));
  Tensor<double> expected({count, 3});
  const auto fill = [&](Tensor<double>& x, int padding, bool stages, bool as_float32 = false) {
    for (std::int64_t i = 0; i < count; ++i) {
      Configuration c = all[static_cast<std::size_t>(i)];
      if (as_float32) c.type = Type::float32;
      if (!stages) c.stages = 1;
      const Usage usage = usage_of_kernel(c, padding);
      x(i, 0) = usage.threads, x(i, 1) = usage.registers, x(i, 2) = usage.shared_bytes;
    }
  };
  fill(expected, 8, true);
  const auto filled_with = [&](int padding, bool stages) {
    Tensor<double> x({count, 3});
    fill(x, padding, stages);
    return x;
  };
  require_matches(
      as_float(usages), ArrayName("usage", {"configuration", "number"}), expected, expected.to<float>(),
      {gives(
           "padding_forgotten", [&] { return filled_with(0, true); },
           "Each step of k has 4 floats of padding, in the slab of A and in that of B."),
       gives(
           "padding_once", [&] { return filled_with(4, true); },
           "Each step of k has 4 floats of padding in the slab of A, and 4 in that of B."),
       gives(
           "one_stage", [&] { return filled_with(8, false); }, "Each stage has a slab of A and one of B."),
       gives(
           "types_alike",
           [&] {
             Tensor<double> x({count, 3});
             fill(x, 8, true, true);
             return x;
           },
           "A kernel for bfloat16 takes what one for float32 would: its numbers have 2 bytes, without "
           "padding, and its registers are those of tensor_core_matmul.hpp.")});
}

}  // namespace

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

namespace {

constexpr double kNone[] = {kRefused, kNan, kInf};  ///< costs of kernels that do not run

double drawn_none(Random& random) { return kNone[random.integer(0, std::ssize(kNone) - 1)]; }

/// Of any size and sign, but close together or equal; some kernels do not run.
std::vector<double> drawn_costs(Random& random) {
  std::vector<double> costs;
  const double usual = drawn::factor(random, 30);
  const bool equal = random.integer(0, 1) == 1;
  for (int i = 0; i < kCompiledCount; ++i)
    costs.push_back(random.integer(0, 3) == 0 ? drawn_none(random)
                                              : usual * (1 + (equal ? 0 : random.uniform() / 10)));
  return costs;
}

/// The first candidate of least cost; -1 if none runs.
int least_of(const std::vector<double>& costs, const std::vector<Configuration>& candidates) {
  int least = -1;
  for (int i = 0; i < kCompiledCount; ++i) {
    const double cost = costs[static_cast<std::size_t>(i)];
    const bool may_be = std::isfinite(cost) && cost != kRefused &&
                        std::find(candidates.begin(), candidates.end(), kCompiled[i]) != candidates.end();
    if (may_be && (least < 0 || cost < costs[static_cast<std::size_t>(least)])) least = i;
  }
  return least;
}

ProblemSize drawn_size(Random& random, std::int64_t least, std::int64_t most) {
  const auto length = [&] { return random.integer(least, most); };
  return {length(), length(), length(), random.integer(0, 1) == 0 ? Type::float32 : Type::bfloat16};
}

/// The search ends with this exception, and leaves in the cache what is there.
template <class Exception>
void check_no_search(const ProblemSize& size, const Device& device, const std::vector<double>& costs,
                     const std::string& lines = "float32 128 64 16 4 3 4096 4096 4096 another device\n") {
  INFO("The device is " << device.name << "; " << text_of(size) << "; " << describe(costs));
  const std::string before = cache_text(lines);
  const Search found = search(size, device, costs, before);
  require_throws<Exception>(found.outcome);
  require(found.cache == before, fmt::format("The search has found nothing, but the cache is then\n{}and was "
                                             "before\n{}",
                                             found.cache, before));
}

/// Of costs, sizes and limits that nobody knows beforehand.
void check_search_or_none(const ProblemSize& size, const Device& device, const std::vector<double>& costs) {
  const int least = least_of(costs, candidates_of(size, device));
  if (least >= 0) return check_search(size, device, costs, least);
  check_no_search<std::runtime_error>(size, device, costs);
}

std::size_t place_of(const Configuration& c) {
  return static_cast<std::size_t>(std::find(std::begin(kCompiled), std::end(kCompiled), c) -
                                  std::begin(kCompiled));
}

/// One of the candidates; the first kernel if there is none.
std::size_t drawn_candidate(const ProblemSize& size, const Device& device, Random& random) {
  const std::vector<Configuration> candidates = candidates_of(size, device);
  if (candidates.empty()) return 0;
  return place_of(candidates[static_cast<std::size_t>(random.integer(0, std::ssize(candidates) - 1))]);
}

}  // namespace

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

namespace {

/// Of some devices and sizes. All of it is drawn.
Cache drawn_cache(Random& random) {
  Cache entries;
  const auto blanks = [&](std::int64_t least) {
    return std::string(static_cast<std::size_t>(random.integer(least, 2)), ' ');
  };
  for (std::int64_t i = random.integer(8, 28); i > 0; --i) {
    const Configuration& c = kCompiled[random.integer(0, kCompiledCount - 1)];
    const auto length = [&] { return random.integer(0, std::int64_t{1} << random.integer(1, 40)); };
    const std::string device =
        random.integer(0, 3) == 0 ? kH100.name : "device" + blanks(1) + std::to_string(random.integer(0, 3));
    entries[{device + blanks(0), {length(), length(), length(), c.type}}] = c;
  }
  return entries;
}

std::string lines_of(const Cache& cache) {
  std::string lines;
  for (const auto& [key, c] : cache)
    lines += fmt::format("{} {} {} {} {}\n", text_of(c), key.size.M, key.size.N, key.size.K, key.device);
  return lines;
}

/// Searches beside a cache of which all is drawn, and once more with what is found.
void check_drawn_search(Type type, Random& random) {
  Device device = kH100;
  if (random.integer(0, 1) == 1) device.name += ' ';  // another name
  const auto length = [&] { return random.integer(32, 9000); };
  const ProblemSize size{length(), length(), length(), type};
  const std::vector<double> costs = drawn_costs(random);
  Cache cache = drawn_cache(random);
  const int least = least_of(costs, candidates_of(size, kH100));
  if (least < 0) return;
  INFO("All of this is drawn: " << text_of(size) << "; " << describe(costs));
  const auto check_found = [&](const Search& found) {
    require_ran(found.outcome);
    require(found.best == kCompiled[least],
            fmt::format("The result is {}, expected {}.", text_of(found.best), text_of(kCompiled[least])));
    require(found.cache == cache_text(lines_of(cache)),
            fmt::format("The cache is then\n{}and should be\n{}", found.cache, cache_text(lines_of(cache))));
  };
  const std::string before = cache_text(lines_of(cache));
  cache[{device.name, size}] = kCompiled[least];
  const Search found = search(size, device, costs, before);
  check_found(found);
  require_asked_once(found, candidates_of(size, kH100));
  const Search again = search(size, device, costs_with(1, {}), cache_text(lines_of(cache)));
  check_found(again);
  require(std::count(again.asked.begin(), again.asked.end(), 0) == kCompiledCount,
          "The cache has the answer, and yet the cost was asked for.");
}

/// Searches beside an entry of the same name and size, which may not be given if it is none of the
/// candidates.
void check_drawn_entry(Random& random) {
  Device device = random_device(random);
  const std::string limits = device.name;
  device.name = kH100.name;
  const ProblemSize size = drawn_size(random, 20, 300);
  const std::vector<Configuration> candidates = candidates_of(size, device);
  const std::vector<double> costs = drawn_costs(random);
  const int least = least_of(costs, candidates);
  for (const Configuration& known : kCompiled) {
    if (known.type != size.type || least < 0) continue;
    const bool may_be_given = std::find(candidates.begin(), candidates.end(), known) != candidates.end();
    const Configuration& wanted = may_be_given ? known : kCompiled[least];
    INFO("The device: " << limits << "; " << text_of(size) << "; " << describe(costs) << "; the cache has "
                        << text_of(known));
    const Search found = search(size, device, costs, cache_text(lines_of({{{device.name, size}, known}})));
    require_ran(found.outcome);
    require(found.best == wanted,
            fmt::format("The result is {}, expected {}.", text_of(found.best), text_of(wanted)));
    require_asked_once(found, may_be_given ? std::vector<Configuration>{} : candidates);
    const std::string after = cache_text(lines_of({{{device.name, size}, wanted}}));
    require(found.cache == after, fmt::format("The cache is then\n{}and should be\n{}", found.cache, after));
  }
}

}  // namespace

TEST_CASE("cache: what has been found is not searched again", "[l23][best_configuration][points:2]") {
  const std::string entry = "float32 64 64 16 4 3 4096 4096 4096 H100\n";
  const auto require_cache = [](const Search& found, const std::string& lines) {
    require(found.cache == cache_text(lines),
            fmt::format("The cache is then\n{}and should be\n{}", found.cache, cache_text(lines)));
  };
  const auto require_best = [](const Search& found, int wanted) {
    require(found.best == kCompiled[wanted],
            fmt::format("The result is {}, expected {}.", text_of(found.best), text_of(kCompiled[wanted])));
  };
  {
    INFO("An empty cache");
    const Search found = search(kLarge, kH100, costs_with(2, {{7, 1}}));
    require_ran(found.outcome);
    require_best(found, 7);
    require_cache(found, entry);
  }
  {
    INFO("The cache has it already");
    const Search found = search(kLarge, kH100, costs_with(2, {{1, 1}}), cache_text(entry));
    require_ran(found.outcome);
    require(std::count(found.asked.begin(), found.asked.end(), 0) == kCompiledCount,
            "The cache has the answer, and yet the cost was asked for.");
    require_best(found, 7);
    require_cache(found, entry);
  }
  Device other = kH100;
  other.name = "H100 of another kind";
  const auto searched = [&](const char* what, const ProblemSize& size, const Device& device,
                            const std::string& before, const std::string& after, int least = 1) {
    INFO(what);
    const Search found = search(size, device, costs_with(2, {{least, 1}}), cache_text(before));
    require_ran(found.outcome);
    require_best(found, least);
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

struct Reread {
  std::string written, complaint;
};

Reread reread(const std::string& text) {
  Tensor<char> written({kTextBytes}), complaint({kTextBytes});
  require_ran(call(ENTRY(call_read_cache), host_in(buffer_of(text), "text"), host_out(written, "written"),
                   host_out(complaint, "complaint")));
  return {text_in(written), text_in(complaint)};
}

void require_kept(const std::string& text, const std::string& as) {
  INFO("The text:\n" << text);
  const Reread got = reread(text);
  require(got.complaint.empty(), "This is a cache, but the complaint is: " + got.complaint);
  require(got.written == as,
          fmt::format("Read and written again, it is\n{}and should be\n{}", got.written, as));
}

/// Neither a crash nor a wrong configuration: an empty cache, and a sentence.
void require_refused(const std::string& text) {
  INFO("The text:\n" << text);
  const Reread got = reread(text);
  require(got.written == cache_text(""),
          "This is no cache that write_cache() has written, but entries are read from it:\n" + got.written);
  require(got.complaint.size() > 10 && got.complaint.back() == '.' && got.complaint != "no complaint",
          "The text is left out, but `complaint` is no sentence that says why: \"" + got.complaint + "\".");
}

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

namespace {

/// Nothing to sum, into a C that is neither row-major nor without gaps.
Problem problem_of_no_depth(std::int64_t M, std::int64_t N) {
  Problem p = random_problem(M, N, 0);
  p.c_strides = {2, 2 * M + 3};
  return p;
}

}  // namespace

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

namespace {

/// Refuses A and B of bfloat16 whose rows cannot be copied 16 bytes at a time, of any size.
void check_chunks_along_rows(Random& random) {
  const Configuration& c = kCompiled[random_index(Type::bfloat16, random)];
  const auto length = [&] { return 8 * random.integer(2, 12); };
  const auto less = [&] { return random.integer(1, 7); };  // than a chunk
  const std::int64_t M = length(), N = length(), K = length();
  const auto refused = [&](std::int64_t cols_of_A, Strides a, std::int64_t cols_of_B, Strides b,
                           const char* argument, const CallOptions& options = {}) {
    INFO("configuration " << text_of(c) << "; A of bfloat16: shape " << format_shape({M, cols_of_A})
                          << ", strides " << format_shape(a) << "; B: shape "
                          << format_shape({cols_of_A, cols_of_B}) << ", strides " << format_shape(b));
    const Tensor<bfloat16> A({M, cols_of_A}, a, bfloat16(1.0f)), B({cols_of_A, cols_of_B}, b, bfloat16(1.0f));
    Tensor<float> C({M, cols_of_B});
    require_throws<std::invalid_argument>(
        call_with(options, ENTRY(call_matmul_with_bfloat16), in(A, "A"), in(B, "B"), out(C, "C"), c.rows,
                  c.cols, c.depth, c.warps, c.stages),
        argument);
  };
  refused(K, {1, M}, N, {N, 1}, "A");
  refused(K, {K + less(), 1}, N, {N, 1}, "A");
  refused(K, {2 * K, 2}, N, {N, 1}, "A");
  refused(K - less(), {K, 1}, N, {N, 1}, "A");
  refused(K, {K, 1}, N, {1, K}, "B");
  refused(K, {K, 1}, N, {N + less(), 1}, "B");
  refused(K, {K, 1}, N - less(), {N, 1}, "B");
  for (const std::size_t array : {0, 1}) {
    const auto bytes = static_cast<std::uint32_t>(2 * less());
    INFO((array == 0 ? "A" : "B") << " begins " << bytes << " bytes past a multiple of 16");
    refused(K, {K, 1}, N, {N, 1}, array == 0 ? "A" : "B", with_shifted_array(2, array, bytes));
  }
}

}  // namespace

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

namespace {

/// @brief Times products of the type: that of the smallest kernel's tile, and one of 250 times the work.
void check_milliseconds(Type type, Random& random) {
  const std::size_t index = random_index(type, random);
  const Configuration& c = kCompiled[index];
  INFO("configuration " << text_of(c));
  const Problem p = in_type_of(c, random_problem(40, 40, 24));
  Tensor<float> C({40, 40}), larger_C({192, 192});
  Tensor<double> milliseconds({1});
  // Check mode takes another time, and would say that the call does something else there.
  const auto time = [&](const Problem& of, Tensor<float>& product, CallOptions options = {}) {
    options.check = CheckMode::never;
    const auto call_timed = [&](auto entry, const auto& A, const auto& B) {
      return call_with(options, entry, in(A, "A"), in(B, "B"), out(product, "C"), static_cast<int>(index),
                       host_out(milliseconds, "time"));
    };
    return type == Type::float32
               ? call_timed(ENTRY(call_milliseconds), of.A, of.B)
               : call_timed(ENTRY(call_milliseconds_bfloat16), of.A.to<bfloat16>(), of.B.to<bfloat16>());
  };
  const Outcome outcome = time(p, C);
  require_ran(outcome);
  const double measured = milliseconds(0);
  require(measured > 0 && measured < 1e6,
          "milliseconds() did not return a time: it is 0, negative or no number.");
  const std::int64_t launches = outcome.counters.at("launches");
  require(
      launches == 1 + kRepetitions,
      fmt::format("The kernel was launched {} times; once that does not count and kRepetitions times that "
                  "do make {}.",
                  launches, 1 + kRepetitions));
  const Tensor<double> expected = reference::matmul(p.A, p.B);
  Bound bound;
  if (type == Type::bfloat16) bound.rounding = cost_of_cutting_off(p);
  require_matches(C, "C", expected, in_order_of_k(p, expected), {}, bound);
  // What matmul_with() refuses is not timed.
  Problem wrong = p;
  wrong.B = Tensor<float>({25, 40}, 1.0f);
  require_throws<std::invalid_argument>(time(wrong, C), "B");
  if (type == Type::bfloat16)
    require_throws<std::invalid_argument>(time(random_problem(40, 40, 24, row_major, column_major), C), "B");
  // A machine that is busy with something else may measure anything, but not three times; and on a large GPU,
  // a launch takes as long as the shorter of these products.
  double of_larger = 0;
  int k = 0;
  for (const int length : {256, 256, 2048}) {
    k = length;
    require_ran(time(in_type_of(c, random_problem(192, 192, k)), larger_C));
    of_larger = milliseconds(0);
    if (of_larger > measured) break;
  }
  require(of_larger > measured,
          fmt::format(
              "milliseconds() returned {:.3g} for a product of 40 x 40 with K = 24, and {:.3g} for one of "
              "192 x 192 with K = {}, which takes longer.",
              measured, of_larger, k));
  CallOptions one_block;
  one_block.max_grid_x = 1;
  Tensor<float> of_blocks({272, 40});  // of each of the kernels, more than one
  require_refused_launch(time(in_type_of(c, random_problem(272, 40, 24)), of_blocks, one_block));
}

}  // namespace

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
