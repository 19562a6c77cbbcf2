#include "23_autotuning/occupancy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "23_autotuning/devices.hpp"
#include "grading/testing/lesson_test.hpp"
#include "tensor/tensor.hpp"

namespace course::lesson_23 {

using namespace grading;

namespace {

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

}  // namespace

int blocks_of(const Usage& u, const Device& d) { return blocks_of(u, d, {}); }

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
  require_matches(blocks.to<float>(), "blocks", expected, expected.to<float>(),
                  mistakes_of_occupancy(pairs, device));
}

std::vector<Pair> random_pairs(const Usage& largest, const Device& device, Random& random) {
  constexpr int kCount = 12;
  const auto up_to = [&](int least, int most) { return static_cast<int>(random.integer(least, most)); };
  std::vector<Pair> pairs;
  for (int i = 0; i < kCount; ++i) {
    const Usage usage{up_to(1, largest.threads), up_to(1, largest.registers), up_to(0, largest.shared_bytes)};
    pairs.push_back({usage, blocks_of(usage, device)});
  }
  return pairs;
}

}  // namespace course::lesson_23
