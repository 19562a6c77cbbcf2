#pragma once
// The functions of the simulator's runtime that the shim headers call. Plain C names, plain types: the
// boundary between a compiled kernel and libsimt.so.

#include <cstddef>
#include <cstdint>

/// What the symbol begins with of a pointer to dynamic shared memory that stands outside of functions.
#define SIMT_LABEL_OF_DYNAMIC "dynamic_shared."

extern "C" {

enum SimtBarrier { simt_barrier_plain, simt_barrier_count, simt_barrier_and, simt_barrier_or };

/// Waits until every thread of the block that has not returned is here. Returns the reduction of `predicate`.
int simt_syncthreads(SimtBarrier kind, int predicate);

/// Waits until every thread of the grid is here; the launch must be a cooperative one.
void simt_sync_grid(void);
int simt_grid_can_sync(void);

enum SimtWarpOp {
  simt_op_syncwarp,
  simt_op_shuffle,
  simt_op_ballot,
  simt_op_all,
  simt_op_any,
  simt_op_uni,
  simt_op_elect,
  simt_op_match_any,
  simt_op_match_all,
  simt_op_reduce_add,
  simt_op_reduce_min,
  simt_op_reduce_max,
  simt_op_reduce_and,
  simt_op_reduce_or,
  simt_op_reduce_xor,
  simt_op_aligned,  ///< an instruction that a warp executes as one: see simt_matrix_abi.h
  simt_op_barrier   ///< the warp comes to a barrier as one: bar.sync, bar.arrive
};

enum SimtShuffle {
  simt_shuffle_up,
  simt_shuffle_down,
  simt_shuffle_xor,
  simt_shuffle_index,
  simt_shuffle_wide = 4  ///< beside one of these: of more than 4 bytes, which a GPU moves in two steps
};

/// Warp rendezvous: waits for the lanes of `mask`, then returns the value that lane `source` brought.
/// Lanes that take part in one rendezvous name the same mask and the same kind of operation.
std::uint64_t simt_shuffle(SimtShuffle kind, unsigned mask, std::uint64_t value, unsigned source_lane);

/// Warp rendezvous for simt_op_match_any: the lanes that brought the same value; and for simt_op_match_all:
/// all lanes, or none unless all did.
unsigned simt_match(SimtWarpOp op, unsigned mask, std::uint64_t value);

/// Warp rendezvous for simt_op_reduce_add to simt_op_reduce_xor: one number of all that the lanes brought. No
/// function hands over what each of them did: a kernel's own code is not to have it without a shuffle.
unsigned simt_reduce(SimtWarpOp op, int is_signed, unsigned mask, unsigned value);

/// Warp rendezvous of one bit per lane: the bits of the lanes that took part.
unsigned simt_ballot(SimtWarpOp op, unsigned mask, int predicate);

/// The lanes that come to this call as well, before anything else can happen in the warp.
unsigned simt_active_lanes(void);
unsigned simt_lane(void);

/// A thread that spins gives way to others here, each time.
void simt_spin_hint(void);

/// What an atomic operation does, for check mode.
enum SimtAtomic { simt_atomic_update, simt_atomic_exchange, simt_atomic_compare, simt_atomic_load };
/// For whom it is one.
enum SimtScope { simt_scope_thread, simt_scope_block, simt_scope_device };

/// Atomic operations on a word of 1, 2, 4 or 8 bytes, by its bits. The runtime carries them out, after check
/// mode has noted them. A place to give way as well. Each gives what was there.
std::uint64_t simt_word_load(const void* address, unsigned bytes, SimtScope scope);
std::uint64_t simt_word_exchange(void* address, unsigned bytes, SimtScope scope, std::uint64_t value);
/// The word becomes `desired` if it is `expected`.
std::uint64_t simt_word_compare(void* address, unsigned bytes, SimtScope scope, std::uint64_t expected,
                                std::uint64_t desired);
/// The word becomes change(the word, value). That is compiled with the kernel: what it reads and stores is
/// noted as all else.
std::uint64_t simt_word_update(void* address, unsigned bytes, SimtScope scope,
                               std::uint64_t (*change)(std::uint64_t old, std::uint64_t value),
                               std::uint64_t value);
/// address[i] += values[i] for each of `count` numbers, each addition by itself; `before` becomes what was
/// there.
void simt_atomic_add_floats(float* address, const float* values, unsigned count, float* before);

/// What the threads of the block have done so far comes before whatever they do from now on: threads that
/// meet by other means than __syncthreads() are judged in this order.
void simt_phase_ends(void);

enum SimtFence { simt_fence_block, simt_fence_device };
void simt_fence(SimtFence scope);

/// The block's dynamic shared memory; the same address for every block that an operating-system thread runs.
void* simt_dynamic_shared(void);

/// Copies of the calling thread, in batches. The bytes move at the last legal moment: simt_async_wait lands
/// all copies but those of the last `batches_in_flight` batches.
void simt_async_copy(void* to, const void* from, std::size_t bytes, std::size_t zero_bytes);
void simt_async_commit(void);
/// Whether a GPU copies so asynchronously: from global to shared memory. It makes other copies at once.
int simt_copies_asynchronously(const void* to, const void* from);
void simt_async_wait(unsigned batches_in_flight);
/// What the thread has issued since its last commit belongs to no batch, but to the barrier: it lands when
/// simt_async_land() is called for that, by whatever thread.
void simt_async_bind(const void* barrier);
void simt_async_land(const void* barrier);

/// Ends the launch with a device assertion that quotes `rule`, unless it holds.
void simt_check(int holds, const char* rule);

/// Ends the launch if a kernel calls it: it is about to enter a function of the host's libraries, of that
/// name.
void simt_host_function(const char* name);

/// Before a load or store of a call's operand in memory, for which the compiler has no hook.
void simt_operand_read(void* address, std::size_t bytes, void* instruction);
void simt_operand_write(void* address, std::size_t bytes, void* instruction);
/// Whether nobody wants to know of that address, such as one on the thread's stack. Keeps vector registers.
int simt_operand_is_own(const void* address);
void simt_operand_call(void* function, std::size_t, void* instruction);
void simt_operand_stack(void* place, std::size_t, void* instruction);

long long simt_clock(void);
[[noreturn]] void simt_trap(void);

struct SimtLaunch {
  const char* name;      ///< the kernel as written, for messages
  const void* function;  ///< the kernel's address, if it is known
  int by_name;           ///< the launch names the kernel, and no pointer to it
  unsigned grid[3], block[3];
  std::size_t dynamic_shared_bytes;
  void* stream;
  void (*invoke)(void* arguments);   ///< runs one thread
  void (*destroy)(void* arguments);  ///< frees the copy of the arguments
  void* arguments;
  std::size_t arguments_bytes;
  int cooperative;  ///< all blocks run at the same time and may wait for each other
  int of_library;   ///< an algorithm of a library: where no line of the program is running, its caller's
                    ///< counts
};

/// The name of the kernel at that address, without template arguments. Lives as long as the program.
const char* simt_kernel_name(const void* function);

/// Memory for the copy of a launch's arguments, which kernels read: the host's own is closed to them.
void* simt_new_arguments(std::size_t bytes, std::size_t alignment);
void simt_delete_arguments(void* arguments, std::size_t alignment);

/// Checks and queues a launch. Errors go where CUDA puts them: cudaGetLastError().
void simt_launch(const SimtLaunch* launch);

int simt_in_kernel(void);
/// A launch by the running thread of a kernel. The arguments are copied byte by byte; `destroy` is not
/// called.
void simt_launch_from_kernel(const SimtLaunch* launch);

/// Of a class: writes 0 for each of its bytes that is padding, and other numbers for members. Null: nobody
/// knows.
typedef void (*SimtMarkValues)(unsigned char* bytes);

/// How an array lies in memory. Dynamic shared memory has extents[0] = 0, what is no array has rank 0.
struct SimtArray {
  std::size_t element_bytes;
  int rank;
  int member_rank;     ///< the last extents are those of the array `member`, which each element consists of
  const char* member;  ///< ".at", or nothing
  const std::size_t* extents;
  std::size_t object_bytes;  ///< of what holds the elements: the class that `mark_values` is about
  SimtMarkValues mark_values;
};

}  // extern "C"
