#pragma once
/// @file
/// What a program that embeds the simulator may ask of it, beside the CUDA runtime API itself.
/// Kernels never see this header. Every function is for host code and may be called from any thread.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "simt/findings.hpp"

namespace simt {

/// In which order blocks, warps, lanes and streams take their turns. A correct kernel gives the same output
/// in all.
enum class Order { forward, reverse, random };

struct Settings {
  Order order = Order::forward;
  std::uint64_t seed = 0;  ///< for Order::random: the same seed gives the same order
  unsigned workers = 0;    ///< operating-system threads that run blocks; 0 = one per core, at most 16
  /// A launch is stopped and reported as a fault once it has had the processors for so long, however long
  /// that is by the clock on a busy machine; or once it has slept for four times as long.
  double launch_seconds = 10.0;
  std::string device = "h200";       ///< device profile: "t4", "rtx4090", "a100" or "h200"
  std::uint32_t max_grid_x = 0;      ///< stricter limit of gridDim.x; 0 = that of the device profile
  std::size_t max_memory_bytes = 0;  ///< stricter limit of device memory; 0 = that of the device profile
  /// Watches every access of kernels that were compiled in the check flavour: see findings.hpp, profile.hpp
  /// and trace.hpp. One operating-system thread, one fixed order, 6 GB of device memory; slower, and for
  /// small sizes: each 4 bytes that a kernel touches take 32 bytes more.
  bool check = false;
  /// Host code learns nothing of what kernels stored, but from device memory: nothing of it is left on stacks
  /// and in shared memory, the host's own stack is closed to kernels, and what they changed of the program's
  /// variables is counted, see take_stored_variables(). In check mode, so it is in any case.
  bool keeps_apart = false;
  /// Runs what is queued once the host has queued nothing else for a while, in programs whose host code can
  /// see what kernels do: a host that waits for a flag calls nothing. Takes a thread of its own.
  bool goes_on_alone = false;
};

/// @brief Runs what is queued, then takes over new settings for all later launches.
/// @throws std::invalid_argument if the device profile is unknown or a value is out of range.
void configure(const Settings& settings);

/// What host code may learn of the device while it goes first.
struct HostFirstRules {
  std::uint64_t most_bits = 0;  ///< of all answers together; one that is empty is a bit
  /// What the host code is told where it asks: by copies to the host, and where it waits for the device with
  /// page-locked or managed memory at hand.
  std::vector<std::vector<std::byte>> answers{};
  /// Gets the answer to the first question that is not among them, or null if the device has failed before.
  /// Host code that nobody trusts must not go on from there: the function ends the process.
  void (*tell)(const std::vector<std::byte>* answer) = nullptr;
};

/// @brief From now on, no work of the device is done before the embedding program asks what it came to, by
/// take_faults() or its kin. Waiting returns at once, and events are there as soon as they are recorded. So
/// host code can learn nothing of what kernels stored, wherever they stored it, but by the answers. An answer
/// is found by doing all the work so far; then this process must end, and the host code begins again in
/// another one, which has it. Should the host code ask for more bytes, all is done in its turn again: see
/// HostCopies::asked. For programs without graphs and CUDA's libraries; until configure().
void host_goes_first(HostFirstRules rules);

/// @brief Starts the threads that launches with Settings::workers = 1 need, for a process that may start none
/// later.
void start_threads();

/// One mistake, told in full.
struct Fault {
  std::string kind;     ///< stable identifier, e.g. "illegal_address", "endless_loop", "deadlock"
  std::string message;  ///< one or two plain sentences with place, block and thread
  std::string file;     ///< source file as given to the compiler; empty if unknown
  int line = 0;
  std::array<unsigned, 3> block{}, thread{};
  bool in_kernel = true;                  ///< false: the host code did it, and block and thread mean nothing
  std::string kernel{};                   ///< as in Finding
  std::vector<SourceCall> calls{};        ///< that led there: see FindingSide
  std::vector<WaitingThreads> waiting{};  ///< of a deadlock
};

/// @brief The program itself, other than libraries that it loads, holds no code of a user's. Nobody looks for
/// lines in it then, which takes a millisecond or two of each process that has something to tell.
void leave_program_out();

/// @brief Runs what is queued and returns the faults since the last call, in the order of launches.
std::vector<Fault> take_faults();

/// @brief Runs what is queued, but for what is put off, and forgets the faults so far.
void forget_faults();

/// @brief Whether something is queued in a stream made with cudaStreamNonBlocking that nobody has waited for,
/// and that the default stream does not wait for either.
bool has_work_aside();

/// A launch that was accepted.
struct LaunchRecord {
  std::string kernel;  ///< as written; by its own name if it was launched through a pointer
  std::array<unsigned, 3> grid{}, block{};
  std::size_t dynamic_shared_bytes = 0;
};

/// @brief The launches that were accepted since the last call, oldest first; at most 65,536 of them.
std::vector<LaunchRecord> take_launches();

/// @brief Forgets the work that is queued and that nobody waited for. Returns how many operations that were.
std::size_t drop_pending();

struct Allocation {
  const void* pointer = nullptr;
  std::size_t bytes = 0;
  std::string file;  ///< where cudaMalloc or its kin was called
  int line = 0;
  std::uint64_t serial = 0;  ///< in their order, from 1 on
};

/// @brief How often memory was allocated: of the device, managed or page-locked.
std::uint64_t allocations_so_far();

/// @brief Such memory that was not yet freed, oldest first, without the first `before` that were allocated.
/// Cost: a look at the debug information for each.
std::vector<Allocation> live_allocations(std::uint64_t before = 0);

/// What host code moved between the two sides, and within the device.
struct HostCopies {
  struct Range {
    const void* begin = nullptr;
    std::size_t bytes = 0;
  };
  std::vector<Range> read;     ///< device memory that was copied to the host
  std::vector<Range> written;  ///< device memory that a copy filled, from either side; cudaMemset is none
  std::uint64_t to_host = 0;   ///< bytes that copies brought to the host
  std::uint64_t within = 0;    ///< bytes that copies brought from device memory to device memory
  std::uint64_t shared = 0;    ///< bytes that were made page-locked or managed, so that both sides touch them
  std::uint64_t asked = 0;     ///< bytes that host code asked for while it went first
};

/// @brief What host code moved since the last call.
HostCopies take_host_copies();

/// @brief Like cudaDeviceReset: drops queued work, frees all device memory, clears errors. Forgets faults,
/// launches and copies as well, which cudaDeviceReset keeps for those who take them.
void reset();

/// @brief Makes host memory inaccessible while a kernel runs, as it is on a GPU.
/// A kernel that touches it faults with a sentence that says so. Whole pages only.
/// @throws std::invalid_argument unless begin and bytes are multiples of the page size.
void protect_host_range(void* begin, std::size_t bytes);
void unprotect_host_range(void* begin);

/// @brief The other way round: host memory that is accessible while a kernel runs only, from now on.
/// @throws std::invalid_argument unless begin and bytes are multiples of the page size.
void keep_for_kernels(void* begin, std::size_t bytes);

/// @brief False inside of a kernel and of a call of the runtime API, on the calling thread.
bool host_code_runs();

/// @brief Takes whole pages of an allocation from kernels until it is freed: one that touches them faults.
/// @throws std::invalid_argument unless begin and bytes are multiples of the page size.
void fence_device_range(void* begin, std::size_t bytes);

/// @brief Host code is about to let the system read (or write) memory, which no page protection can notice.
void host_uses(const void* begin, std::size_t bytes, bool write);

/// @brief Sets a function that is called when host code crashes (for example because it reads device
/// memory), right before the process ends by that signal. It runs in a signal handler: write and return.
void set_fatal_handler(void (*handler)(const Fault&));

}  // namespace simt
