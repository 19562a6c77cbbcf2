// Counts the memory accesses of traced_kernels.cpp through the compiler's instrumentation, whose functions
// are defined here. Only accesses to the arrays of the test count: a local variable may be instrumented as
// well.
#include <cstdint>
#include <string>

#include "support/catch.hpp"
#include "traced_kernels.hpp"

namespace {

alignas(64) unsigned char read_from[256], written_to[256];
std::string accesses;  // "r16 w16 "

bool is_in(const void* address, const unsigned char (&array)[256]) {
  const auto offset = reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(array);
  return offset < sizeof(array);
}

void record(char kind, const void* address, std::size_t bytes) {
  if (is_in(address, read_from) || is_in(address, written_to)) accesses += kind + std::to_string(bytes) + ' ';
}

template <class T>
T* source() {
  return reinterpret_cast<T*>(read_from);
}
template <class T>
T* target() {
  return reinterpret_cast<T*>(written_to);
}

// What `run` accessed. g++ reports the write of a plain copy before its read; that order means nothing.
template <class Run>
std::string accesses_of(Run run) {
  accesses.clear();
  run();
  return accesses == "w16 r16 " ? "r16 w16 " : accesses;
}

}  // namespace

extern "C" {
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_read1(void* a) { record('r', a, 1); }
void __tsan_read2(void* a) { record('r', a, 2); }
void __tsan_read4(void* a) { record('r', a, 4); }
void __tsan_read8(void* a) { record('r', a, 8); }
void __tsan_read16(void* a) { record('r', a, 16); }
void __tsan_write1(void* a) { record('w', a, 1); }
void __tsan_write2(void* a) { record('w', a, 2); }
void __tsan_write4(void* a) { record('w', a, 4); }
void __tsan_write8(void* a) { record('w', a, 8); }
void __tsan_write16(void* a) { record('w', a, 16); }
void __tsan_read_range(void* a, std::size_t bytes) { record('r', a, bytes); }
void __tsan_write_range(void* a, std::size_t bytes) { record('w', a, bytes); }
}

TEST_CASE("a float4 that is loaded, changed and stored is one read and one write", "[simt][shim]") {
  CHECK(accesses_of([] { traced::change_two_members(target<float4>()); }) == "r16 w16 ");
  CHECK(accesses_of([] { traced::copy(target<float4>(), source<float4>()); }) == "r16 w16 ");
  CHECK(accesses_of([] { traced::copy_from_floats(target<float4>(), source<float>()); }) == "r16 w16 ");
  CHECK(accesses_of([] { traced::load_if(target<float4>(), source<float4>(), true); }) == "r16 w16 ");
  CHECK(accesses_of([] { traced::load_if(target<float4>(), source<float4>(), false); }) == "w16 ");
  CHECK(accesses_of([] { traced::add_by_value(target<float4>(), source<float4>()); }) == "r16 r16 w16 ");
  CHECK(accesses_of([] { traced::accumulate(target<float4>(), source<float4>(), 3); }) == "r16 r16 r16 w16 ");
  CHECK(accesses_of([] { traced::through_union(target<float4>(), source<float4>()); }) == "r16 w16 ");
  CHECK(accesses_of([] { traced::through_read_only_cache(target<float4>(), source<float4>()); }) ==
        "r16 w16 ");
}

TEST_CASE("a new float4 is stored in one write, however it is spelt", "[simt][shim]") {
  CHECK(accesses_of([] { traced::store_constructed(target<float4>(), 1); }) == "w16 ");
  CHECK(accesses_of([] { traced::store_braces(target<float4>(), 1); }) == "w16 ");
  CHECK(accesses_of([] { traced::store_made(target<float4>(), 1); }) == "w16 ");
  CHECK(target<float>()[1] == 2.0f);
}

TEST_CASE("other vector types move as one access as well", "[simt][shim]") {
  CHECK(accesses_of([] { traced::integers(target<int4>(), source<int4>()); }) == "r16 w16 ");
  CHECK(accesses_of([] { traced::doubles(target<double2>(), source<double2>()); }) == "r16 w16 ");
  CHECK(accesses_of([] { traced::pairs(target<float2>(), source<float2>()); }) == "r8 w8 ");
  CHECK(accesses_of([] { traced::bytes(target<uchar4>(), source<uchar4>()); }) == "r4 w4 ");
  CHECK(accesses_of([] { traced::halves(target<__half2>(), source<__half2>()); }) == "r4 w4 ");
}

TEST_CASE("a single member is an access of its own size", "[simt][shim]") {
  CHECK(accesses_of([] { traced::one_member(source<float4>()); }) == "r4 ");
}
