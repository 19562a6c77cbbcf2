#include "grading/testing/traffic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace course::grading {
namespace {

constexpr std::uint64_t kSectorBytes = 32;
/// As many lanes of a warp may load the same number at the same time, on average: it costs one sector.
constexpr std::uint64_t kLanesTogether = 2;

/// "flash2_forward.cu:57 reads most of it." with a space before it; "" where no line is known.
std::string line_with_most(const Profile& profile, std::uint64_t (*amount)(const simt::Counters&),
                           std::string_view says) {
  const simt::LineProfile* most = nullptr;
  for (const simt::LaunchProfile& launch : profile.launches)
    for (const simt::LineProfile& line : launch.lines)
      if (line.line > 0 && amount(line.counters) > (most ? amount(most->counters) : 0)) most = &line;
  if (!most) return {};
  return fmt::format(fmt::runtime(says), std::filesystem::path(most->file).filename().string(), most->line,
                     amount(most->counters));
}

std::uint64_t side_by_side(const simt::Counters& counters) {
  return kSectorBytes * counters.global_load.ideal_sectors;
}

/// Bytes of its sectors for which no lane asked, though they would do side by side.
std::uint64_t not_asked(const simt::Counters& counters) {
  const std::uint64_t bytes = side_by_side(counters);
  return bytes - std::min(bytes, counters.global_load.bytes_asked);
}

std::uint64_t sectors_too_many(const simt::Counters& counters) {
  const simt::GlobalTraffic &load = counters.global_load, &store = counters.global_store;
  return load.sectors + store.sectors - load.ideal_sectors - store.ideal_sectors;
}

/// Which launch has one warp of each block have more than so many times its share of a kind of work, or a
/// tenth more than one of `rows` rows where there are fewer blocks.
std::string busy_warp(const Profile& profile, simt::BlockOrder simt::LaunchProfile::*kind,
                      std::string_view work, double times, std::uint64_t rows = 0) {
  for (const simt::LaunchProfile& launch : profile.launches) {
    const double warps = std::ceil(launch.block[0] * launch.block[1] * launch.block[2] / 32.0);
    const double share = (launch.*kind).busiest_share();
    if (share * warps <= times) continue;
    if (launch.order.blocks < rows && share * static_cast<double>(rows) <= 1.1) continue;
    return fmt::format(
        "In each block of {}, one of {:.0f} warps has {:.0f} % of the {}. Share the work out to all warps.",
        launch.kernel, warps, 100 * share, work);
  }
  return {};
}

}  // namespace

std::string reads_too_much(const Profile& profile, std::uint64_t bytes, std::string_view what) {
  const std::uint64_t read = side_by_side(profile), asked = profile.global_load.bytes_asked;
  if (read * 10 <= bytes * 11) {
    if (asked * 10 <= kLanesTogether * bytes * 11) return {};
    return fmt::format(
               "The threads ask for {} bytes in all; {} takes at most {}. Lanes of a warp that ask for the "
               "same number at the same time share a sector, but each of them loads it for itself. Let one "
               "of them load what threads need together, and the others find it in shared memory.",
               asked, what, bytes) +
           line_with_most(
               profile, [](const simt::Counters& counters) { return counters.global_load.bytes_asked; },
               " The line that asks for most is {}:{}, {} bytes.");
  }
  std::string text = fmt::format(
      "Your code reads {} bytes or more, counted in whole sectors of 32 bytes; {} takes at most {}.", read,
      what, bytes);
  if (asked * 10 <= bytes * 11)
    return text +
           fmt::format(" Its threads ask for only {} of them: the rest of each sector is wasted.", asked) +
           line_with_most(profile, not_asked, " Most of that is in {}:{}, {} bytes.");
  return text + line_with_most(profile, side_by_side, " The line that reads most is {}:{}, {} bytes.");
}

std::string writes_not_exactly(const Profile& profile, std::uint64_t bytes, std::string_view what) {
  const std::uint64_t written = profile.global_store.bytes_asked;
  if (written == bytes) return {};
  std::string text =
      fmt::format("Your code writes {} bytes to global memory; {} takes {}.", written, what, bytes);
  if (written < bytes) return text;
  const auto in_vain = [](const simt::Counters& counters) {
    const simt::GlobalTraffic& store = counters.global_store;
    return store.bytes_asked - std::min(store.bytes_asked, kSectorBytes * store.sectors);
  };
  const std::string again = line_with_most(
      profile, in_vain, " In {}:{}, lanes of a warp write the same elements: {} bytes or more are in vain.");
  if (!again.empty()) return text + again;
  return text + line_with_most(
                    profile, [](const simt::Counters& counters) { return counters.global_store.bytes_asked; },
                    " The line that writes most is {}:{}, {} bytes.");
}

std::string half_empty_sectors(const simt::GlobalTraffic& traffic, std::string_view verb) {
  const std::uint64_t side_by_side = kSectorBytes * traffic.ideal_sectors;
  if (2 * side_by_side <= 3 * traffic.bytes_asked) return {};
  return fmt::format(
      "The warps {} {} bytes with {} instructions, which take sectors of {} bytes: few lanes {} at a time, "
      "and most lanes have nothing to do. Let all lanes of a warp {} together.",
      verb, traffic.bytes_asked, traffic.requests, side_by_side, verb, verb);
}

std::string scattered_accesses(const Profile& profile) {
  for (const simt::LaunchProfile& launch : profile.launches) {
    const simt::GlobalTraffic &load = launch.total.global_load, &store = launch.total.global_store;
    const std::uint64_t sectors = load.sectors + store.sectors,
                        ideal = load.ideal_sectors + store.ideal_sectors;
    if (sectors * 10 <= ideal * 11) continue;
    return fmt::format(
               "The warps of {} touch {} sectors of 32 bytes where {} would do: memory moves in whole "
               "sectors, and "
               "neighbouring threads read or write elements that lie apart.",
               launch.kernel, sectors, ideal) +
           line_with_most(make_profile({launch}), sectors_too_many,
                          " Most of them are in {}:{}, {} too many.");
  }
  const std::string loads = half_empty_sectors(profile.global_load, "load");
  return loads.empty() ? half_empty_sectors(profile.global_store, "store") : loads;
}

std::string last_is_largest(const Profile& profile) {
  for (const simt::LaunchProfile& launch : profile.launches) {
    // Who accesses shared memory for nothing has no more to load.
    const double times = std::max(launch.order.last_over_mean(), launch.loads.last_over_mean());
    if (times <= 1.1) continue;
    return fmt::format(
        "Of {}, blocks that start last have {:.1f} times the work of the mean. A GPU starts blocks in the "
        "order of their numbers, along x first, and at the end waits for the last ones: those with most work "
        "should begin first.",
        launch.kernel, times);
  }
  return {};
}

std::string few_warps_work(const Profile& profile, double times) {
  return few_warps_of_rows_work(profile, 0, times);
}

std::string few_warps_of_rows_work(const Profile& profile, std::uint64_t rows, double times) {
  return busy_warp(profile, &simt::LaunchProfile::order, "accesses to memory and matrix products", times,
                   rows);
}

std::string few_warps_load(const Profile& profile) {
  return busy_warp(profile, &simt::LaunchProfile::loads, "loads from global memory", 2);
}

std::string one_block_works(const Profile& profile, double share) {
  // Who accesses shared memory for nothing has no more to store.
  struct Kind {
    simt::BlockOrder simt::LaunchProfile::*order;
    const char *does, *what;
  };
  constexpr Kind kKinds[] = {{&simt::LaunchProfile::order, "has", "work"},
                             {&simt::LaunchProfile::stores, "stores", "results"}};
  for (const simt::LaunchProfile& launch : profile.launches)
    for (const auto& [kind, does, what] : kKinds) {
      const simt::BlockOrder& order = launch.*kind;
      const auto work = static_cast<double>(order.work), largest = static_cast<double>(order.largest);
      if (largest <= 1.1 * share * work) continue;
      return fmt::format(
          "Of the {} blocks of {}, one {} {:.0f} % of the {}: the others have little to do, and most of a "
          "GPU nothing.",
          launch.order.blocks, launch.kernel, does, 100 * largest / work, what);
    }
  return {};
}

std::string few_lanes_load(const Profile& profile) {
  constexpr std::uint64_t kLeastNumbers = 8;
  const std::uint64_t numbers = profile.global_load.bytes_asked / 4, loads = profile.global_load.requests;
  if (loads * kLeastNumbers <= numbers) return {};
  return fmt::format(
      "The warps load {} numbers with {} instructions, though each could bring 32 of them: most lanes have "
      "nothing to do. Share the work out to all threads of a block.",
      numbers, loads);
}

std::string few_lanes_work(const Profile& profile) {
  constexpr std::uint64_t kLeastLanes = 8;
  if (profile.steps * kLeastLanes <= profile.lanes) return {};
  return fmt::format(
      "In a step of a warp, {:.1f} of its 32 lanes are at work on average. Share the work out to all threads "
      "of a block.",
      static_cast<double>(profile.lanes) / static_cast<double>(profile.steps));
}

std::string products_beside_tensor_cores(const Profile& profile) {
  constexpr std::uint64_t kLeast = 8;  // times as many: one product of seven that lies beside is too much
  const std::uint64_t beside = 32 * profile.float_instructions;
  if (kLeast * beside <= profile.matrix_float16) return {};
  return fmt::format(
      "Tensor cores do {} multiply-adds, and ordinary units {}. All products of matrices belong on tensor "
      "cores.",
      profile.matrix_float16, beside);
}

std::string few_on_tensor_cores(const Profile& profile, std::uint64_t multiply_adds) {
  if (profile.matrix_float16 >= multiply_adds) return {};
  return fmt::format("Tensor cores do {} multiply-adds; the products take {} or more.",
                     profile.matrix_float16, multiply_adds);
}

std::uint64_t meetings(const simt::Counters& counters) {
  return counters.barriers + counters.signals + counters.shared_atomic.requests +
         counters.global_atomic.requests;
}

std::string meetings_told(const simt::Counters& counters, std::uint64_t warps) {
  const std::uint64_t shared_by = std::max<std::uint64_t>(1, warps), all = meetings(counters);
  const std::uint64_t tenths = (10 * all + shared_by - 1) / shared_by;  // rounded up: no limit that is met
  return fmt::format(
      "Each warp waits at {}{}",
      all % shared_by == 0 ? fmt::format("{} barriers", all / shared_by)
                           : fmt::format("{}.{} barriers on average", tenths / 10, tenths % 10),
      all > counters.barriers ? " (or has atomics and volatile stores, which may stand for them)" : "");
}

}  // namespace course::grading
