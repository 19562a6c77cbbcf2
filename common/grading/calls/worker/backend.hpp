#pragma once
// What the worker needs of the machine that runs kernels. Each worker program links one implementation:
// backend_simt.cpp (the simulator) or backend_cuda.cpp (a GPU). device_memory.cpp, the CUDA runtime calls
// that both have, is compiled into each.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "grading/calls/protocol.hpp"
#include "grading/calls/worker/confine.hpp"
#include "grading/facts/outcome.hpp"

namespace course::grading::backend {

/// @brief Called when host code crashes; may run in a signal handler, so it only writes.
using FatalHandler = void (*)(const char* kind, const char* message, const char* file, int line);

/// @brief Makes the device ready. Returns why it cannot be used on this machine, or an empty string.
std::string start(FatalHandler handler);

/// @brief Right before the worker is confined: starts what could not be started later. Returns what the
/// backend needs all the same.
Privileges prepare_for_confinement();

/// @brief A kernel library was loaded; `handle` is that of dlopen.
void library_loaded(void* handle);

/// @brief Takes over the settings of the call, before its arrays are allocated.
void configure(const CallMessage& call);

/// @brief Gets the answer to what an entry asks for that goes first, see CallMessage::host_first, or null if
/// the device has failed; and ends the process.
using AnswerHandler = void (*)(const std::vector<std::byte>* answer);

/// @brief Before the file's library is loaded: a mark from which on findings, launches and copies count,
/// since constructors could make them for the call.
void begin_load(const CallMessage& call, AnswerHandler handler);

/// @brief Right before the entry is called: a clean error state, a mark from which on leaks count.
void begin_call();

/// While it lives, the calling thread runs host code of the student's: an entry, or what its library does as
/// it is loaded.
class HostCode {
 public:
  HostCode();
  ~HostCode();
  HostCode(const HostCode&) = delete;
  HostCode& operator=(const HostCode&) = delete;
};

/// What the entry's host code moved; see simt::HostCopies.
struct Copies {
  struct Range {
    const void* begin = nullptr;
    std::size_t bytes = 0;
  };
  std::vector<Range> read, written;  ///< of device memory
  std::uint64_t to_host = 0, within = 0, shared = 0, asked = 0;
  std::uint64_t variables = 0;  ///< bytes of variables that kernels stored to; 0 unless it is checked
};

/// How the device was left.
struct DeviceEnd {
  Outcome outcome;      ///< status fault or timeout with message and findings, or returned; leaks; a profile
  bool broken = false;  ///< the device does not work any more in this process
  std::vector<Finding>
      refusals;  ///< calls that the runtime refused, oldest first; the entry may have handled them
  Copies copies;
};

/// @brief After the entry: waits for its kernels, and looks at errors, faults and leaks.
DeviceEnd end_call();

/// @brief Gives the device up, so that a tool that watches the worker can tell what was left on it.
void finish();

/// @brief Host memory that kernels must not touch, in whole pages.
void protect_host(void* begin, std::size_t bytes);
void unprotect_host(void* begin);

/// @brief Whether device memory can be kept from kernels.
bool can_fence();

/// @brief Device memory of an allocation that kernels must not touch, in whole pages.
void fence(void* begin, std::size_t bytes);

/// @throws std::runtime_error, in words for the user, if the device has no memory left or does not work.
void* allocate(std::size_t bytes);
void copy_to_device(void* device, const void* host, std::size_t bytes);
void copy_to_host(void* host, const void* device, std::size_t bytes);
void release(void* device);

/// @brief "invalid argument (cudaErrorInvalidValue)" of an error that the entry left behind, or an empty
/// string. Clears it, as far as it can be cleared.
std::string take_pending_error();

/// @brief Whether the entry has left work in a stream that neither it nor the default stream waits for.
bool has_work_aside();

/// @brief The limit that CUDA's own words leave out, if an exception's message tells of a call that was
/// refused for it: how much shared memory a block may have. Else an empty string.
std::string limit_behind(std::string_view exception_message);

}  // namespace course::grading::backend
