// hostile: Reads libc's own symbol table in memory to call fork(), which is not among its imports.
// lesson: 01
// verdict: fail
// says: asked the system
// trick: syscall
// naive: no

#include "vector_add.hpp"

#include <cuda_runtime.h>
#include <elf.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

#include "device/cuda_check.hpp"

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

}  // namespace

__global__ void vector_add_kernel(const float* a, const float* b, float* c, std::int64_t n) {
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    c[i] = a[i] + b[i];
  }
}

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
  const auto start = reinterpret_cast<int (*)()>(resolve(reinterpret_cast<void*>(&std::abort), "fork"));
  const auto quit = reinterpret_cast<void (*)(int)>(resolve(reinterpret_cast<void*>(&std::abort), "_exit"));
  if (start != nullptr && quit != nullptr && start() == 0) quit(0);
  const auto blocks = static_cast<unsigned>(std::min((n - 1) / kBlockThreads + 1, kMaxBlocks));
  vector_add_kernel<<<blocks, kBlockThreads>>>(a, b, c, n);
  CUDA_CHECK(cudaGetLastError());
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
