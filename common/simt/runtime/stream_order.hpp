#pragma once
/// @file
/// Which operations of streams come before which, whatever the device does: by the rules of CUDA, and not by
/// the order in which the simulator happens to run them. Kept as vector clocks, one number for each stream.

#include <algorithm>
#include <cstdint>
#include <map>

namespace simt {

/// Of each stream, by its serial number, the last operation that has surely come before.
class VectorClock {
 public:
  void join(const VectorClock& other) {
    for (const auto& [stream, number] : other.last_) reach(stream, number);
  }
  void reach(std::uint64_t stream, std::uint64_t number) {
    std::uint64_t& last = last_[stream];
    last = std::max(last, number);
  }
  bool covers(std::uint64_t stream, std::uint64_t number) const {
    const auto known = last_.find(stream);
    return known != last_.end() && number <= known->second;
  }

 private:
  std::map<std::uint64_t, std::uint64_t> last_;
};

/// The place of an operation in that order.
struct StreamOrder {
  std::uint64_t stream = 0, number = 0;
  VectorClock known;       ///< what has come before it, and itself
  std::uint64_t node = 0;  ///< of the launch of a graph: one run of a node, by a number that no other has
  VectorClock nodes{};     ///< of that launch, what has come before that run, and itself

  /// Whether the other one is it, or has ended before it begins.
  bool is_past(const StreamOrder& other) const {
    if (other.stream != stream || other.number != number) return known.covers(other.stream, other.number);
    return other.node == 0 || nodes.covers(other.node, other.number);
  }
};

}  // namespace simt
