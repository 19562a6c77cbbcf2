#pragma once
/// @file
/// Host code that runs to its end before any work of the device does: host_goes_first() of control.hpp.
///
/// Nothing that a kernel stores can then reach host code, wherever in the process it is stored: no kernel has
/// run. Work is put off in the order in which it would be done. What the host code has to be told all the
/// same, since it asks for it by a copy or by waiting with page-locked or managed memory, was found out by a
/// process before this one.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "simt/control.hpp"

namespace simt {

class HostFirst {
 public:
  void begin(HostFirstRules rules);
  /// Whether the device's work is put off.
  bool puts_off() const { return state_ == State::puts_off; }

  /// Does the work in its turn: now, or once the host code has ended. `shows`: what is shared may change.
  void do_or_put_off(std::function<void()> work, bool shows);
  /// The host code has ended, or asks for more than it may: does all that was put off, and from now on
  /// everything at once.
  void end();
  /// Forgets what was put off.
  void drop();

  /// Writes to `to` what `find` would write, if it were called after all work so far. False: the work is no
  /// longer put off.
  bool tell(std::span<std::byte> to, const std::function<void(std::byte*)>& find);

  // Memory that host code and kernels may both touch.
  /// As it is now. What is shared already stays so.
  void share(void* begin, std::size_t bytes);
  void unshare(const void* begin);
  /// The host waits for the device, and may then look at that memory.
  void let_host_look();

  /// Bytes that the host has asked for, rounded up.
  std::uint64_t take_asked();

 private:
  enum class State { off, puts_off, catches_up };

  /// Memory as the host code left it when it was last looked at: what kernels see of its stores comes in its
  /// turn as well. What changed of all that is shared is told in runs of bytes: where a run begins, how long
  /// it is, and what is there now. If nothing changed, the answer is empty.
  struct Shared {
    std::byte* begin;
    std::vector<std::byte> seen;
  };
  void put_off_host_stores();
  /// Does all that was put off, to find an answer. Nothing that goes wrong may come back to the host code
  /// that waits for it, so an exception ends the process. Returns whether there is an answer: whether the
  /// device still works.
  bool find_out() noexcept;
  /// Tells the answer of a question, and does nothing more of what is queued. Ends the process if that fails,
  /// too: host code that comes after kernels could see what they stored.
  void answer(const std::vector<std::byte>* found) noexcept;
  /// A place that a run is told with, and its length.
  static constexpr std::size_t kPlaceBytes = 3, kMostShared = std::size_t{1} << (8 * kPlaceBytes),
                               kLengthBytes = 1, kLongestRun = 255;
  static std::vector<std::byte> changes_since(const std::vector<Shared>& before);
  void take_over(std::span<const std::byte> changes);
  bool may_tell(std::uint64_t bits);
  bool may_tell_bytes(std::size_t bytes);
  std::optional<std::vector<std::byte>> next_answer();

  State state_ = State::off;
  HostFirstRules rules_;
  std::size_t asked_ = 0;
  std::uint64_t asked_bits_ = 0;
  std::deque<std::function<void()>> work_;
  std::vector<Shared> shared_;
  bool looked_ = true;  ///< since the last work was put off
};

}  // namespace simt
