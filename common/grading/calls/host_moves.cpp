#include "grading/calls/host_moves.hpp"

#include <fmt/format.h>

namespace course::grading {

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
  if (moves.shared > kFewBytes)
    sentences.push_back(
        fmt::format("Your code took {} bytes of managed or page-locked memory, which the host could read. "
                    "The arrays of {} "
                    "lie on the device: take memory for intermediate results with cudaMalloc.",
                    moves.shared, entry));
  return sentences;
}

std::string carried_in_variables(const HostMoves& moves, std::string_view entry) {
  if (moves.variables <= kFewBytes) return {};
  return fmt::format(
      "Your kernels stored to variables of {} bytes outside of all functions, or took that much with malloc "
      "or new, which the host could read. The arrays of {} lie on the device: take memory for intermediate "
      "results with cudaMalloc.",
      moves.variables, entry);
}

}  // namespace course::grading
