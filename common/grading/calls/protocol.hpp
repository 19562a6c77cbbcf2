#pragma once
// What the grader and its worker say to each other.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "grading/calls/argument.hpp"
#include "grading/calls/host_moves.hpp"
#include "grading/calls/session.hpp"
#include "grading/facts/outcome.hpp"

namespace course::grading {

/// The descriptor that a worker finds its channel at.
inline constexpr int kWorkerChannel = 3;

/// Exit status of a worker that can no longer reach the grader.
inline constexpr int kExitChannelLost = 113;

/// Grader to fork server. A fork comes with two descriptors: the worker's channel, and what it prints to. The
/// answer is the status of waitpid, in digits, once the worker has ended, by itself or by a kill.
inline constexpr std::string_view kForkRequest = "fork", kKillRequest = "kill";

/// One array of a call. Its image (guard, data, guard) starts at `offset` of the input memory, on a page
/// boundary.
struct ArrayMessage {
  Place place = Place::device;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;  ///< of the image
  std::uint64_t data = 0;   ///< where in the image the data start
  std::uint64_t data_bytes = 0;
  std::uint32_t shift = 0;              ///< on the device: bytes past a multiple of 256 where the data start
  bool filled = true;                   ///< false: an output, which holds nothing before the call
  std::optional<std::uint64_t> result;  ///< where the image goes in the output memory after the call
};

struct ArgumentMessage {
  std::vector<std::byte> bytes;
  std::optional<std::uint64_t> array;  ///< its data's address replaces the first 8 bytes
};

/// Grader to worker, with two descriptors: input memory and output memory.
struct CallMessage {
  std::uint64_t id = 0;
  std::string library, entry, signature;
  std::vector<ArgumentMessage> arguments;
  std::vector<ArrayMessage> arrays;
  std::uint64_t input_bytes = 0, output_bytes = 0;
  Order order = Order::forward;
  std::uint64_t seed = 0;
  std::uint32_t max_grid_x = 0;
  std::uint64_t max_memory_bytes = 0;
  double launch_seconds = 10;
  bool check = false;  ///< check mode
  bool bare =
      false;  ///< arrays get no guards, so that who watches the call knows where they end; results neither
  bool fenced = false;  ///< pages at the ends of arrays on the device are kept from kernels: large calls of
                        ///< code that nobody trusts
  std::uint32_t threads = 0;  ///< operating-system threads that run blocks; 0: as many as there are cores
  bool host_first =
      false;  ///< no kernel runs before the entry has returned: host code has nothing to look at
  std::vector<std::vector<std::byte>> answers;  ///< what it is told all the same, where it asks for bytes
};

/// Worker to grader. Progress messages (`running`) come before the last one.
struct ReplyMessage {
  std::uint64_t id = 0;
  bool ready = false;     ///< only says that it is there, before it knows of any library
  bool running = false;   ///< only says that the library is loaded and the entry is being called
  bool unusable = false;  ///< the backend cannot work on this machine; `outcome.message` says why
  bool copied = false;    ///< the output memory holds the results
  bool reusable = false;  ///< the worker may serve another call
  /// The call has ended where the entry asked for bytes of the device: with this answer, it begins again. The
  /// outcome is that of the work so far.
  std::optional<std::vector<std::byte>> answer;
  HostMoves moves;
  Outcome outcome;
};

std::string encode(const CallMessage& message);
std::string encode(const ReplyMessage& message);  ///< long texts and lists are cut

/// @throws std::exception if the text is not such a message.
CallMessage decode_call(std::string_view text);
ReplyMessage decode_reply(std::string_view text);

}  // namespace course::grading
