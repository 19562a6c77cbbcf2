// The bridge from Python to entries, called as Python calls it, with entries of this test.
#include <cuda_runtime.h>

#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <string>

#include "support/catch.hpp"

extern "C" int course_call(void (*invoke)(void* const*), void* const* arguments, int device, void* stream,
                           int waits, char* message, std::size_t capacity);

namespace {

struct Answer {
  int status;
  std::string message;
};

Answer call(void (*entry)(void* const*), void* const* arguments = nullptr, cudaStream_t stream = nullptr,
            bool waits = false, int device = 0) {
  char message[256] = "";
  const int status = course_call(entry, arguments, device, stream, waits ? 1 : 0, message, sizeof message);
  return {status, message};
}

__global__ void copy_kernel(const int* from, int* to) { *to = *from; }
__global__ void crash_kernel(int* nowhere) { *nowhere = 1; }

/// An entry as lessons have them: its kernel runs on the default stream.
void copy(void* const* arguments) {
  copy_kernel<<<1, 1>>>(*static_cast<int**>(arguments[0]), *static_cast<int**>(arguments[1]));
}

void crash(void* const*) { crash_kernel<<<1, 1>>>(nullptr); }

/// Three numbers on the device. A framework's stream sets the first, an entry copies it to the second, the
/// stream copies that to the third. Gives the third once the stream is done.
int through_a_stream(cudaStream_t stream, cudaStream_t told) {
  int* numbers = nullptr;
  REQUIRE(cudaMalloc(&numbers, 3 * sizeof(int)) == cudaSuccess);
  REQUIRE(cudaMemset(numbers, 0, 3 * sizeof(int)) == cudaSuccess);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  int *first = numbers, *second = numbers + 1;
  void* const arguments[] = {&first, &second};
  REQUIRE(cudaMemsetAsync(first, 1, sizeof(int), stream) == cudaSuccess);
  CHECK(call(copy, arguments, told).status == 0);
  copy_kernel<<<1, 1, 0, stream>>>(second, numbers + 2);
  REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
  int third = 0;
  REQUIRE(cudaMemcpy(&third, numbers + 2, sizeof third, cudaMemcpyDeviceToHost) == cudaSuccess);
  REQUIRE(cudaFree(numbers) == cudaSuccess);
  return third;
}

}  // namespace

TEST_CASE("an entry comes after what its stream got before, and before what it gets later", "[bridge]") {
  cudaStream_t stream = nullptr;
  REQUIRE(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
  CHECK(through_a_stream(stream, stream) == 0x01010101);
  CHECK(through_a_stream(stream, nullptr) == 0);  // without being told, nobody waits: the test can fail
  CHECK(cudaStreamDestroy(stream) == cudaSuccess);
}

TEST_CASE("what an entry throws is a status and a sentence", "[bridge]") {
  const Answer wrong = call([](void* const*) { throw std::invalid_argument("Q must be there."); });
  CHECK(wrong.status == 1);
  CHECK(wrong.message == "Q must be there.");
  const Answer failed = call([](void* const*) { throw std::runtime_error("no"); });
  CHECK(failed.status == 2);
  CHECK(failed.message == "no");
  CHECK(call([](void* const*) { throw 7; }).status == 2);
}

TEST_CASE("a sentence that is too long is cut off", "[bridge]") {
  const Answer answer = call([](void* const*) { throw std::runtime_error(std::string(1000, 'x')); });
  CHECK(answer.message == std::string(255, 'x'));
}

TEST_CASE("an error that the entry did not look at is told, one from before is not", "[bridge]") {
  (void)cudaSetDevice(99);
  CHECK(call([](void* const*) {}).status == 0);
  const Answer answer = call([](void* const*) { (void)cudaSetDevice(99); });
  CHECK(answer.status == 2);
  CHECK(answer.message.find("cudaErrorInvalidDevice") != std::string::npos);
  CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE("a device that is not there is an error", "[bridge]") {
  CHECK(call([](void* const*) { FAIL("it was called"); }, nullptr, nullptr, false, 99).status == 2);
}

TEST_CASE("a kernel that crashes is told where, and the next call works", "[bridge]") {
  const Answer answer = call(crash, nullptr, nullptr, true);
  CHECK(answer.status == 2);
  CHECK(answer.message.find("bridge_test.cu") != std::string::npos);
  CHECK(call([](void* const*) {}, nullptr, nullptr, true).status == 0);
}
