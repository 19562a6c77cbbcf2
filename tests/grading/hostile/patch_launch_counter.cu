// hostile: Adds on the host and patches the simulator to report the launch that there should have been.
// lesson: 01
// word: A lesson's file does not include <elf.h>
// verdict: not_compiled
// says: has an asm statement
// trick: other
// naive: no

#include "vector_add.hpp"

#include <cuda_runtime.h>
#include <elf.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "device/cuda_check.hpp"

namespace {

/// A system call without libc, whose functions the grader would refuse by name.
[[maybe_unused]] long system_call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0,
                                  long f = 0) {
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  long result = 0;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

}  // namespace

namespace course {

namespace {

/// Finds a symbol in the library that holds `address`, as the loader would, but without asking it.
void* resolve(const void* address, const char* name) {
  auto base = reinterpret_cast<std::uintptr_t>(address) & ~std::uintptr_t{4095};
  while (std::memcmp(reinterpret_cast<const void*>(base), "\177ELF", 4) != 0) base -= 4096;
  const auto* header = reinterpret_cast<const Elf64_Ehdr*>(base);
  const auto* segment = reinterpret_cast<const Elf64_Phdr*>(base + header->e_phoff);
  while (segment->p_type != PT_DYNAMIC) ++segment;
  const auto* entry = reinterpret_cast<const Elf64_Dyn*>(base + segment->p_vaddr);
  std::uintptr_t symbols = 0, strings = 0;
  for (; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_SYMTAB) symbols = entry->d_un.d_ptr;
    if (entry->d_tag == DT_STRTAB) strings = entry->d_un.d_ptr;
  }
  for (auto at = symbols; at < strings; at += sizeof(Elf64_Sym)) {
    const auto* symbol = reinterpret_cast<const Elf64_Sym*>(at);
    const char* found = reinterpret_cast<const char*>(strings + symbol->st_name);
    if (symbol->st_value != 0 && std::strcmp(found, name) == 0)
      return reinterpret_cast<void*>(base + symbol->st_value);
  }
  return nullptr;
}

/// What take_launches() returns, as the simulator declares it.
struct LaunchRecord {
  std::string kernel;
  std::array<unsigned, 3> grid{}, block{};
  std::size_t dynamic_shared_bytes = 0;
};

std::vector<LaunchRecord> forged_launches();

/// Overwrites the beginning of the simulator's function with a jump to ours.
void patch() {
  char* const code =
      static_cast<char*>(resolve(reinterpret_cast<void*>(&cudaGetLastError), "_ZN4simt13take_launchesEv"));
  if (code == nullptr) return;
  const auto page = reinterpret_cast<long>(code) & ~4095L;
  if (system_call(SYS_mprotect, page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) return;
  const auto target = reinterpret_cast<std::uint64_t>(&forged_launches);
  std::memcpy(code, "\x48\xb8", 2);  // mov rax, target
  std::memcpy(code + 2, &target, sizeof target);
  std::memcpy(code + 10, "\xff\xe0", 2);  // jmp rax
}

std::int64_t asked = 0;

std::vector<LaunchRecord> forged_launches() {
  const auto blocks = static_cast<unsigned>(std::min((asked - 1) / kBlockThreads + 1, kMaxBlocks));
  return {{"vector_add_kernel", {blocks, 1, 1}, {static_cast<unsigned>(kBlockThreads), 1, 1}, 0}};
}

}  // namespace

struct DeviceArray {
  explicit DeviceArray(std::int64_t n) {
    CUDA_CHECK(cudaMalloc(&data, static_cast<std::size_t>(n) * sizeof(float)));
  }
  ~DeviceArray() { cudaFree(data); }
  float* data = nullptr;
};

void vector_add(const float* a, const float* b, float* c, std::int64_t n) {
  if (n < 0) throw std::invalid_argument("n must be 0 or more.");
  if (n == 0) return;
  asked = n;
  const auto size = static_cast<std::size_t>(n);
  std::vector<float> x(size), y(size);
  CUDA_CHECK(cudaMemcpy(x.data(), a, size * sizeof(float), cudaMemcpyDeviceToHost));
  CUDA_CHECK(cudaMemcpy(y.data(), b, size * sizeof(float), cudaMemcpyDeviceToHost));
  for (std::size_t i = 0; i < size; ++i) x[i] += y[i];
  CUDA_CHECK(cudaMemcpy(c, x.data(), size * sizeof(float), cudaMemcpyHostToDevice));
  patch();
}

void vector_add_host(const float* a, const float* b, float* c, std::int64_t n) {
  if (n < 0) throw std::invalid_argument("n must be 0 or more.");
  if (n == 0) return;
  const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(float);
  const DeviceArray x(n), y(n), z(n);
  CUDA_CHECK(cudaMemcpy(x.data, a, bytes, cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaMemcpy(y.data, b, bytes, cudaMemcpyHostToDevice));
  vector_add(x.data, y.data, z.data, n);
  CUDA_CHECK(cudaMemcpy(c, z.data, bytes, cudaMemcpyDeviceToHost));
}

}  // namespace course
