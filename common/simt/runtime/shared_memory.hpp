#pragma once
/// @file
/// The shared memory of a block.
///
/// `__shared__` variables are thread-local variables of the kernel's library, so the block that runs on an
/// operating-system thread has them for itself. Which thread-local variables those are, and where, is read
/// from the library's symbol table. Dynamic shared memory is one buffer for each operating-system thread.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

struct dl_phdr_info;

namespace simt {

/// @brief The calling thread's buffer for dynamic shared memory, of the largest size that any device allows.
/// Page-aligned, with an inaccessible page on either side. Never freed.
void* allocate_dynamic_shared();

struct SharedVariable {
  std::size_t offset = 0, bytes = 0;  ///< within the module's thread-local storage
  std::string symbol;                 ///< mangled
  std::string function = {};          ///< in which it is declared, with template arguments; empty: in none
  bool points_to_dynamic = false;     ///< what `extern __shared__ T name[]` becomes: set at its first use
};

/// What a kernel says in `__launch_bounds__(threads)`.
struct LaunchBounds {
  std::string kernel;  ///< with template arguments
  std::size_t threads = 0;
};

/// A variable of a namespace: `__device__`, `__constant__`, or the host's own.
struct DataVariable {
  std::uintptr_t address = 0;
  std::size_t bytes = 0;
  std::string symbol;  ///< mangled
};

/// Memory of a module that its code may store to, in whole pages.
struct WritableRange {
  std::uintptr_t begin = 0, end = 0;
};

/// @brief Of a loaded library or program. What the dynamic linker has made read-only, at the beginning of a
/// segment, is not among it.
std::vector<WritableRange> writable_ranges(const dl_phdr_info& library);

/// @brief Whether memory belongs to a loaded library or program, as variables outside of all functions do.
bool lies_in_module(const void* begin, std::size_t bytes);

/// A loaded library or program that holds kernels.
struct KernelModule {
  std::uintptr_t begin = 0, end = 0;  ///< of its code
  std::size_t tls_module = 0;         ///< the dynamic linker's number for its thread-local storage
  std::size_t tls_bytes = 0;          ///< of that storage
  std::vector<WritableRange> writable;
  WritableRange managed;  ///< its `__managed__` variables, by the byte
  std::string path;       ///< empty for the program itself
  std::vector<SharedVariable> shared;
  std::vector<SharedVariable> thread_locals;  ///< other small ones: pointers to the dynamic buffer, guards
  std::vector<DataVariable> data;
  std::vector<LaunchBounds> launch_bounds;
  std::vector<std::uintptr_t> functions;  ///< where each begins, in order

  bool contains(std::uintptr_t address) const { return address >= begin && address < end; }
};

/// @brief The module that holds the code at this address. The answer stays valid; asking again is cheap.
const KernelModule& kernel_module(const void* code);

/// @brief Bytes of the `__shared__` variables that a kernel of the module itself declares; those of functions
/// that it calls are not among them. `kernel` is its name with or without template arguments, parameters and
/// the like; of several kernels of one name, the one with the fewest bytes counts. 0 if the module has no
/// such kernel.
std::size_t static_shared_bytes(const KernelModule& module, const std::string& kernel);

/// @brief How many threads a block of the kernel may have by its launch bounds; of several kernels of one
/// name, the one that takes the most counts. kMaxThreadsPerBlock if none says anything.
std::size_t most_threads(const KernelModule& module, const std::string& kernel);

/// @brief Where the calling thread's copy of the module's thread-local storage begins; null if it has none.
std::byte* thread_local_storage(const KernelModule& module);

/// Puts back in the end what the calling thread's thread-local variables of a module held before. A kernel's
/// `__shared__` variables are among them, and host code could read what it left there.
class KeptThreadLocals {
 public:
  explicit KeptThreadLocals(const KernelModule& module);
  ~KeptThreadLocals();
  KeptThreadLocals(const KeptThreadLocals&) = delete;
  KeptThreadLocals& operator=(const KeptThreadLocals&) = delete;

 private:
  std::byte* storage_;
  std::vector<std::byte> before_;
};

/// @brief What a block has in its shared memory, and the way back: another block may have the place
/// meanwhile.
std::vector<std::byte> shared_memory(const KernelModule& module, const void* dynamic_buffer,
                                     std::size_t dynamic_bytes);
void restore_shared_memory(const KernelModule& module, const std::vector<std::byte>& values,
                           void* dynamic_buffer);

/// @brief Fills the `__shared__` variables of the module and `dynamic_bytes` of the dynamic buffer with a
/// pattern that reads as NaN: on a GPU, too, a new block finds what others left behind.
void poison_shared_memory(const KernelModule& module, void* dynamic_buffer, std::size_t dynamic_bytes);

}  // namespace simt
