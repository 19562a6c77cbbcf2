// The ledger that is linked into kernels for a GPU, with a runtime of our own behind it: memory is the
// device's if it lies in `device`.
#include "grading/calls/worker/ledger.hpp"

#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "support/catch.hpp"

using course::grading::LedgerCopies;
using course::grading::LedgerRange;

namespace {

std::array<std::byte, 4096> device;

int copy(void* to, const void* from, std::size_t bytes) {
  std::memcpy(to, from, bytes);
  return 0;
}

int take(void** pointer, std::size_t bytes) {
  *pointer = std::malloc(bytes);
  return 0;
}

}  // namespace

// NOLINTBEGIN(bugprone-reserved-identifier): the linker chooses the names of --wrap.
extern "C" {

struct Attributes {
  int type, device;
  void *device_pointer, *host_pointer;
  long reserved[8];  // written by CUDA 13, too
};
int cudaPointerGetAttributes(Attributes* attributes, const void* pointer) {
  *attributes = {};
  const auto* const byte = static_cast<const std::byte*>(pointer);
  attributes->type = byte >= device.data() && byte < device.data() + device.size() ? 2 : 0;
  return 0;
}
struct Dim3 {
  unsigned x, y, z;
};
unsigned __real___cudaPushCallConfiguration(Dim3, Dim3, std::size_t, void*) { return 0; }
int __real_cudaMalloc(void** pointer, std::size_t bytes) { return take(pointer, bytes); }
int __real_cudaMallocManaged(void** pointer, std::size_t bytes, unsigned) { return take(pointer, bytes); }
int __real_cudaMallocAsync(void** pointer, std::size_t bytes, void*) { return take(pointer, bytes); }
int __real_cudaMallocHost(void** pointer, std::size_t bytes) { return take(pointer, bytes); }
int __real_cudaHostAlloc(void** pointer, std::size_t bytes, unsigned) { return take(pointer, bytes); }
int __real_cudaHostRegister(void*, std::size_t, unsigned) { return 0; }
int __real_cudaHostUnregister(void*) { return 0; }
int __real_cudaFree(void* pointer) { return std::free(pointer), 0; }
int __real_cudaFreeHost(void* pointer) { return std::free(pointer), 0; }
int __real_cudaFreeAsync(void* pointer, void*) { return std::free(pointer), 0; }
int __real_cudaMemcpy(void* to, const void* from, std::size_t bytes, int) { return copy(to, from, bytes); }
int __real_cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, int, void*) {
  return copy(to, from, bytes);
}
int __real_cudaMemcpy2D(void*, std::size_t, const void*, std::size_t, std::size_t, std::size_t, int) {
  return 0;
}
int __real_cudaMemcpy2DAsync(void*, std::size_t, const void*, std::size_t, std::size_t, std::size_t, int,
                             void*) {
  return 0;
}
int __real_cudaMemcpyFromSymbol(void*, const void*, std::size_t, std::size_t, int) { return 0; }
int __real_cudaMemcpyFromSymbolAsync(void*, const void*, std::size_t, std::size_t, int, void*) { return 0; }

int __wrap_cudaMemcpy(void* to, const void* from, std::size_t bytes, int kind);
int __wrap_cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                        std::size_t width, std::size_t height, int kind);
int __wrap_cudaMemcpyFromSymbol(void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                                int kind);
int __wrap_cudaMallocManaged(void** pointer, std::size_t bytes, unsigned flags);
int __wrap_cudaHostRegister(void* pointer, std::size_t bytes, unsigned flags);
int __wrap_cudaHostUnregister(void* pointer);
int __wrap_cudaFree(void* pointer);
LedgerCopies course_ledger_copies(LedgerRange* ranges, std::size_t capacity);

}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier)

namespace {

std::array<LedgerRange, 8> ranges;
LedgerCopies look() { return course_ledger_copies(ranges.data(), ranges.size()); }

constexpr int kDefault = 4;  // cudaMemcpyDefault, which names no direction

}  // namespace

TEST_CASE("the ledger tells which device memory copies read and filled", "[ledger]") {
  std::array<std::byte, 256> host{};
  look();
  __wrap_cudaMemcpy(host.data(), device.data() + 64, 100, kDefault);
  __wrap_cudaMemcpy(device.data() + 512, host.data(), 32, kDefault);
  const LedgerCopies copies = look();
  REQUIRE(copies.ranges == 2);
  CHECK(copies.to_host == 100);
  CHECK(ranges[0].begin == device.data() + 64);
  CHECK(ranges[0].bytes == 100);
  CHECK_FALSE(ranges[0].filled);
  CHECK(ranges[1].begin == device.data() + 512);
  CHECK(ranges[1].filled);
  CHECK(look().ranges == 0);
}

TEST_CASE("the ledger takes copies of rows one by one, and a variable's as bytes for the host", "[ledger]") {
  std::array<std::byte, 256> host{};
  look();
  __wrap_cudaMemcpy2D(host.data(), 16, device.data(), 128, 8, 3, kDefault);
  __wrap_cudaMemcpyFromSymbol(host.data(), nullptr, 40, 0, 2);
  const LedgerCopies copies = look();
  REQUIRE(copies.ranges == 3);
  CHECK(ranges[2].begin == device.data() + 256);
  CHECK(copies.to_host == 3 * 8 + 40);
}

TEST_CASE("the ledger counts memory that both sides see until it is freed", "[ledger]") {
  std::array<std::byte, 64> host{};
  void* managed = nullptr;
  look();
  __wrap_cudaMallocManaged(&managed, 1000, 1);
  CHECK(look().shared == 1000);
  __wrap_cudaHostRegister(host.data(), host.size(), 0);
  __wrap_cudaFree(managed);
  CHECK(look().shared == 1064);
  CHECK(look().shared == 64);
  __wrap_cudaHostUnregister(host.data());
  look();
  CHECK(look().shared == 0);
}

TEST_CASE("sums of the ledger do not start again at 0", "[ledger]") {
  constexpr std::size_t kHalf = std::size_t{1} << 63;
  std::array<std::byte, 64> host{};
  const std::array<std::byte*, 3> places{host.data(), host.data() + 16, host.data() + 32};
  look();
  __wrap_cudaHostRegister(places[0], 1000, 0);
  __wrap_cudaHostRegister(places[1], kHalf, 0);
  __wrap_cudaHostRegister(places[2], kHalf - 1000, 0);
  CHECK(look().shared == ~std::uint64_t{0});
  for (std::byte* const place : places) __wrap_cudaHostUnregister(place);
  look();
  CHECK(look().shared == 0);
  __wrap_cudaMemcpyFromSymbol(host.data(), nullptr, 40, 0, 2);
  __wrap_cudaMemcpyFromSymbol(host.data(), nullptr, std::size_t{0} - 40, 0, 2);
  CHECK(look().to_host == ~std::uint64_t{0});
}

TEST_CASE("a ledger with more copies than it keeps speaks of all memory", "[ledger]") {
  std::array<std::byte, 8> host{};
  look();
  for (int i = 0; i < 70000; ++i) __wrap_cudaMemcpy(host.data(), device.data(), 1, kDefault);
  std::vector<LedgerRange> all(course::grading::kMostLedgerRanges);
  const LedgerCopies copies = course_ledger_copies(all.data(), all.size());
  CHECK(copies.to_host == 70000);
  REQUIRE(copies.ranges == all.size());
  CHECK(all.back().begin == nullptr);
  CHECK(all.back().bytes == ~std::uint64_t{0});
}
