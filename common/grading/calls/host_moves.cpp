#include "grading/calls/host_moves.hpp"

#include <fmt/format.h>

#include "grading/facts/profile.hpp"

namespace course::grading {
namespace {

/// Of what is little in each way.
std::string seen_in_all(std::uint64_t bytes, std::string_view entry) {
  return fmt::format(
      "The host could read {} bytes from the device, by copies, in managed or page-locked memory, and in "
      "variables that kernels stored to. The arrays of {} lie on the device: compute with them in kernels "
      "alone. Up to {} bytes may go to the host, for a flag or a count.",
      bytes, entry, kFewBytes);
}

}  // namespace

std::vector<std::string> computed_by_host(const HostMoves& moves, std::string_view entry,
                                          const std::vector<std::string>& labels) {
  std::vector<std::string> sentences;
  const auto label = [&](std::uint64_t array) { return array < labels.size() ? labels[array] : "an array"; };
  for (const std::uint64_t array : moves.read)
    sentences.push_back(fmt::format(
        "Your code copied {} to the host. The arrays of {} lie on the device, where kernels compute: "
        "read them in a kernel, and leave out the copy.",
        label(array), entry));
  for (const std::uint64_t array : moves.filled)
    sentences.push_back(fmt::format(
        "Your code filled {} by a copy. Let a kernel of {} store what belongs there, and leave out the copy.",
        label(array), entry));
  if (moves.read.empty() && moves.to_host > kFewBytes)
    sentences.push_back(fmt::format(
        "Your code copied {} bytes from the device to the host. The arrays of {} lie on the device: "
        "compute with them in kernels alone. Up to {} bytes may be copied, for a flag or a count.",
        moves.to_host, entry, kFewBytes));
  if (moves.read.empty() && moves.to_host <= kFewBytes && moves.shared <= kFewBytes &&
      moves.to_host + moves.shared > kFewBytes)
    sentences.push_back(seen_in_all(moves.to_host + moves.shared, entry));
  if (moves.shared > kFewBytes)
    sentences.push_back(
        fmt::format("Your code took {} bytes of managed or page-locked memory, which the host could read. "
                    "The arrays of {} "
                    "lie on the device: take memory for intermediate results with cudaMalloc.",
                    moves.shared, entry));
  if (sentences.empty() && moves.asked > kFewBytes) sentences.push_back(seen_in_all(moves.asked, entry));
  return sentences;
}

std::string too_many_launches(std::int64_t launches, std::string_view entry) {
  if (launches <= kMostLaunches) return {};
  return fmt::format(
      "Your code launched {} kernels in one call of {}, and may launch {}: from how long each takes, the "
      "host could learn what lies on the device. Let a launch do more.",
      launches, entry, kMostLaunches);
}

std::string done_otherwise(const Outcome& asked, const Outcome& again, std::string_view entry) {
  if (!again.profile) return {};  // which is judged elsewhere
  if (!asked.profile)
    return fmt::format(
        "{} asked for a result of the device after more launches than can be compared with those of the call "
        "that had the result. Let a launch do more, or ask earlier.",
        entry);
  const auto &before = asked.profile->launches, &now = again.profile->launches;
  const auto is_the_same = [](const simt::LaunchProfile& a, const simt::LaunchProfile& b) {
    simt::Counters total = a.total;  // but for how long its threads took: they may wait by a clock
    total.steps = b.total.steps, total.lanes = b.total.lanes, total.divergent_steps = b.total.divergent_steps;
    return a.kernel == b.kernel && a.grid == b.grid && a.block == b.block && total == b.total;
  };
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (i < now.size() && is_the_same(before[i], now[i])) continue;
    return fmt::format(
        "{} asked for a result of the device, and was called again with it. Then its launch {} ({}) did "
        "something else than before. Leave alone what a launch was given, and launch what needs the result "
        "after asking for it.",
        entry, i + 1, before[i].kernel);
  }
  return {};
}

std::string carried_in_variables(const HostMoves& moves, std::string_view entry) {
  if (moves.variables > kFewBytes)
    return fmt::format(
        "Your kernels stored to variables of {} bytes outside of all functions, or took that much with "
        "malloc or new, which the host could read. The arrays of {} lie on the device: take memory for "
        "intermediate results with cudaMalloc.",
        moves.variables, entry);
  const std::uint64_t others = moves.to_host + moves.shared;  // if that is much, it is told elsewhere
  if (others > kFewBytes || others + moves.variables <= kFewBytes) return {};
  return seen_in_all(others + moves.variables, entry);
}

}  // namespace course::grading
