#pragma once
/// @file
/// The ways by which threads come to a function: each chain of calls has a number, the same for all threads
/// that come by it.

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace simt::check {

/// Number 0 is the empty chain. Calls are offsets in the module's code, as traces have them.
class CallPaths {
 public:
  using Path = std::uint32_t;
  static constexpr std::size_t kMost = 1u << 20;  ///< further chains count as the one they go on from

  /// The chain that goes on with one more call. Cost: of a chain that is asked for again at once, a
  /// comparison; else a look-up.
  Path enter(Path path, std::uint32_t call) {
    if (path == last_path_ && call == last_call_ && last_ != 0) return last_;
    last_path_ = path, last_call_ = call;
    return last_ = find(path, call);
  }
  Path caller(Path path) const { return chains_[path].caller; }
  std::uint32_t call(Path path) const { return chains_[path].call; }
  void clear() {
    chains_.assign(1, {});
    known_.clear();
    last_ = 0;
  }

 private:
  struct Chain {
    Path caller = 0;
    std::uint32_t call = 0;  ///< the innermost
  };
  Path find(Path path, std::uint32_t call) {
    if (chains_.size() >= kMost) return path;
    const auto [entry, is_new] =
        known_.try_emplace(std::uint64_t{path} << 32 | call, static_cast<Path>(chains_.size()));
    if (is_new) chains_.push_back({path, call});
    return entry->second;
  }

  std::vector<Chain> chains_{1};
  std::unordered_map<std::uint64_t, Path> known_;
  Path last_path_ = 0, last_ = 0;
  std::uint32_t last_call_ = 0;
};

}  // namespace simt::check
