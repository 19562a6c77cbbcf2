// Host code that runs to its end before any work of the device does.
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "support.hpp"

namespace {

using Answers = std::vector<std::vector<std::byte>>;

constexpr std::uint64_t kMostBits = 8 * 64;

__constant__ int factor;
__device__ int spare;  // memory of the program, as host code could read it

__global__ void store_kernel(int* to, int value) { *to = value; }
__global__ void add_kernel(int* to, int value) { *to += value; }
__global__ void multiply_kernel(int* to) { *to *= factor; }
__global__ void spare_kernel() { spare = 1; }

/// What the host code was told, where it asked for more than it had answers for.
Answers& found() {
  static Answers answers;
  return answers;
}

/// How often there was no answer, since the device had failed.
int& failures() {
  static int count = 0;
  return count;
}

/// What the host is told of the first byte of what it shares.
std::vector<std::byte> first_byte_is(int value) {
  return {{}, {}, {}, std::byte{1}, static_cast<std::byte>(value)};
}

/// Host code that comes to life again where a launch gives up what it has got.
struct Witness {
  int* seen;
  ~Witness() {
    if (seen != nullptr) *seen = spare;
  }
};
__global__ void witnessed_kernel(Witness witness) {
  witness.seen = nullptr;  // the thread's own
  spare = 1;
}

struct HostFirstDevice : FreshDevice {
  explicit HostFirstDevice(Answers answers = {}) {
    found().clear();
    failures() = 0;
    simt::host_goes_first({kMostBits, std::move(answers), [](const std::vector<std::byte>* answer) {
                             if (answer != nullptr)
                               found().push_back(*answer);
                             else
                               ++failures();
                           }});
  }
};

/// The host code has ended: what the device holds now.
int value_in_the_end(const int* pointer) {
  for (const simt::Fault& fault : simt::take_faults()) FAIL(fault.message);
  return to_host(pointer, 1).front();
}

int copied(const int* pointer) {
  int value = -1;
  REQUIRE(cudaMemcpy(&value, pointer, sizeof value, cudaMemcpyDeviceToHost) == cudaSuccess);
  return value;
}

}  // namespace

TEST_CASE("where the host goes first, no kernel runs while it does, and all do after it",
          "[simt][host_first]") {
  const HostFirstDevice device;
  spare = 0;
  spare_kernel<<<1, 1>>>();
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(spare == 0);
  CHECK(simt::take_faults().empty());
  CHECK(spare == 1);
  CHECK(simt::take_host_copies().asked == 0);
}

TEST_CASE("what is put off is done in its order: copies, sets, kernels, constants", "[simt][host_first]") {
  const HostFirstDevice device;
  int* const x = device_array<int>(1, 5);
  int* const y = device_array<int>(1);
  int host = 3;
  REQUIRE(cudaMemcpyToSymbol(factor, &host, sizeof host) == cudaSuccess);
  add_kernel<<<1, 1>>>(x, 1);
  multiply_kernel<<<1, 1>>>(x);
  REQUIRE(cudaMemcpy(y, x, sizeof host, cudaMemcpyDeviceToDevice) == cudaSuccess);
  REQUIRE(cudaMemset(x, 0, sizeof host) == cudaSuccess);
  host = 7;  // which the copy has read
  REQUIRE(cudaMemcpyToSymbol(factor, &host, sizeof host) == cudaSuccess);
  multiply_kernel<<<1, 1>>>(y);
  CHECK(value_in_the_end(y) == (5 + 1) * 3 * 7);
  CHECK(value_in_the_end(x) == 0);
}

TEST_CASE("streams and events order what is put off as they order all work", "[simt][host_first]") {
  const HostFirstDevice device;
  int* const x = device_array<int>(1, 1);
  cudaStream_t one = nullptr, other = nullptr;
  cudaEvent_t event = nullptr;
  REQUIRE(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking) == cudaSuccess);
  REQUIRE(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking) == cudaSuccess);
  REQUIRE(cudaEventCreate(&event) == cudaSuccess);
  add_kernel<<<1, 1, 0, one>>>(x, 1);
  REQUIRE(cudaEventRecord(event, one) == cudaSuccess);
  REQUIRE(cudaStreamWaitEvent(other, event, 0) == cudaSuccess);
  store_kernel<<<1, 1, 0, other>>>(x, 10);
  REQUIRE(cudaStreamSynchronize(other) == cudaSuccess);
  add_kernel<<<1, 1, 0, one>>>(x, 5);
  REQUIRE(cudaStreamDestroy(one) == cudaSuccess);
  REQUIRE(cudaStreamDestroy(other) == cudaSuccess);
  REQUIRE(cudaEventQuery(event) == cudaSuccess);  // it is behind what has been waited for
  CHECK(value_in_the_end(x) == 15);
}

TEST_CASE("a copy to the host is answered by what was found out before", "[simt][host_first]") {
  int answer = 0;
  {
    const HostFirstDevice device;
    int* const x = device_array<int>(1, 2);
    add_kernel<<<1, 1>>>(x, 40);
    (void)copied(x);
    REQUIRE(found().size() == 1);
    std::memcpy(&answer, found().front().data(), sizeof answer);
    CHECK(answer == 42);
  }
  const HostFirstDevice device({found().front()});
  int* const x = device_array<int>(1, 2);
  spare = 0;
  add_kernel<<<1, 1>>>(x, 40);
  spare_kernel<<<1, 1>>>();
  CHECK(copied(x) == 42);
  CHECK(spare == 0);
  CHECK(found().empty());
  add_kernel<<<1, 1>>>(x, copied(x) > 0 ? 1 : 0);  // the second question
  CHECK(found().size() == 1);
  CHECK(value_in_the_end(x) == 43);
  CHECK(simt::take_host_copies().asked == 2 * sizeof answer);
}

TEST_CASE("an answer of another size tells no more than was asked for", "[simt][host_first]") {
  const HostFirstDevice device({std::vector<std::byte>(16, std::byte{0xff}), {}});
  const int* const x = device_array<int>(1, 2);
  CHECK(copied(x) == -1);
  CHECK(copied(x) == 0);
}

TEST_CASE("who asks for more bytes than there are to be told gets them, and it is counted",
          "[simt][host_first]") {
  const HostFirstDevice device;
  constexpr std::size_t kNumbers = kMostBits / 8;
  int* const x = device_array<int>(kNumbers, 2);
  add_kernel<<<1, 1>>>(x, 1);
  CHECK(to_host(x, kNumbers).front() == 3);
  CHECK(found().empty());
  add_kernel<<<1, 1>>>(x, 1);
  CHECK(copied(x) == 4);
  CHECK(simt::take_host_copies().asked == kNumbers * sizeof(int));
}

TEST_CASE("memory that is freed stays for the work that was put off", "[simt][host_first]") {
  const HostFirstDevice device;
  int* const result = device_array<int>(1);
  int* const x = device_array<int>(1000, 6);
  std::size_t before = 0, free = 0, total = 0;
  REQUIRE(cudaMemGetInfo(&before, &total) == cudaSuccess);
  add_kernel<<<1, 1>>>(x, 1);
  REQUIRE(cudaMemcpy(result, x, sizeof(int), cudaMemcpyDeviceToDevice) == cudaSuccess);
  REQUIRE(cudaFree(x) == cudaSuccess);
  REQUIRE(cudaMemGetInfo(&free, &total) == cudaSuccess);
  CHECK(free == before + 1000 * sizeof(int));
  int* const next = device_array<int>(1000, 0);
  CHECK(next != x);
  CHECK(cudaMemset(x, 0, sizeof(int)) == cudaErrorInvalidValue);
  CHECK(cudaFree(x) == cudaErrorInvalidValue);
  CHECK(simt::take_faults().size() == 2);
  CHECK(to_host(result, 1).front() == 7);
  CHECK(device_array<int>(1000, 0) == x);
}

TEST_CASE("a host function runs in its turn, and sees no kernel's work", "[simt][host_first]") {
  const HostFirstDevice device;
  spare = 0;
  int seen = -1;
  spare_kernel<<<1, 1>>>();
  REQUIRE(cudaLaunchHostFunc(
              nullptr, [](void* data) { *static_cast<int*>(data) = spare; }, &seen) == cudaSuccess);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(seen == 0);
  CHECK(simt::take_faults().empty());
  CHECK(spare == 1);
}

TEST_CASE("page-locked and managed memory changes hands where the host waits", "[simt][host_first]") {
  const bool managed = GENERATE(false, true);
  // Counts a kernel's steps in shared memory, as a loop until nothing changes does.
  const auto count_to_three = [&] {
    int* count = nullptr;
    REQUIRE((managed ? cudaMallocManaged(&count, sizeof(int)) : cudaMallocHost(&count, sizeof(int))) ==
            cudaSuccess);
    *count = 1;
    for (int step = 0; step < 2; ++step) {
      add_kernel<<<1, 1>>>(count, 1);
      REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
      *count += 10;
    }
    int* const result = device_array<int>(1);
    REQUIRE(cudaMemcpy(result, count, sizeof(int), cudaMemcpyDefault) == cudaSuccess);
    *count = 0;
    REQUIRE((managed ? cudaFree(count) : cudaFreeHost(count)) == cudaSuccess);
    return result;
  };
  Answers answers;
  for (int question = 0; question < 2; ++question) {
    const HostFirstDevice device(answers);
    CHECK(value_in_the_end(count_to_three()) == 23);  // also where it was told in the middle
    REQUIRE(found().size() == 1);
    answers.push_back(found().front());
  }
  CHECK(answers == Answers{first_byte_is(2), first_byte_is(13)});
  const HostFirstDevice device(answers);
  CHECK(value_in_the_end(count_to_three()) == 23);
  CHECK(found().empty());
}

TEST_CASE("waiting beside shared memory in which nothing changes tells next to nothing",
          "[simt][host_first]") {
  constexpr int kWaits = 20;
  const auto wait_beside_a_table = [] {
    constexpr std::size_t kTable = 1000;
    int *table = nullptr, *result = device_array<int>(1);
    REQUIRE(cudaMallocManaged(&table, kTable * sizeof(int)) == cudaSuccess);
    for (int wait = 0; wait < kWaits; ++wait) {
      table[kTable - 1] = wait;
      add_kernel<<<1, 1>>>(result, 1);
      REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    }
    REQUIRE(cudaMemcpy(result, &table[kTable - 1], sizeof(int), cudaMemcpyDefault) == cudaSuccess);
    return result;
  };
  const HostFirstDevice device((Answers(kWaits)));
  CHECK(value_in_the_end(wait_beside_a_table()) == kWaits - 1);
  CHECK(found().empty());
  CHECK(simt::take_host_copies().asked == 3);  // 20 bits
}

TEST_CASE("numbers side by side that have changed are told as one run", "[simt][host_first]") {
  constexpr int kNumbers = 12;
  const auto store_and_wait = [] {
    int* numbers = nullptr;
    REQUIRE(cudaMallocHost(&numbers, kNumbers * sizeof(int)) == cudaSuccess);
    for (int i = 0; i < kNumbers; ++i) numbers[i] = -1;
    for (int i = 1; i < kNumbers; ++i) store_kernel<<<1, 1>>>(&numbers[i], 0x01020304 + i);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    return std::vector<int>(numbers, numbers + kNumbers);
  };
  Answers answers;
  {
    const HostFirstDevice device;
    store_and_wait();
    REQUIRE(found().size() == 1);
    answers = found();
  }
  CHECK(answers.front().size() == 4 + (kNumbers - 1) * sizeof(int));
  const HostFirstDevice device(answers);
  const std::vector<int> numbers = store_and_wait();
  CHECK(found().empty());
  CHECK(numbers[0] == -1);
  for (int i = 1; i < kNumbers; ++i) CHECK(numbers[static_cast<std::size_t>(i)] == 0x01020304 + i);
}

TEST_CASE("what a launch has got is not destroyed once kernels have run", "[simt][host_first]") {
  const HostFirstDevice device;
  spare = 0;
  int seen = -1;
  witnessed_kernel<<<1, 1>>>(Witness{&seen});
  CHECK(seen == 0);  // of the temporary one
  seen = -1;
  CHECK(simt::take_faults().empty());
  CHECK(spare == 1);
  CHECK(seen == -1);
}

TEST_CASE("a copy sets a variable of the device, and none on the stack", "[simt][host_first]") {
  const HostFirstDevice device;
  int value = 3, local = 0;
  CHECK(cudaMemcpyToSymbol(local, &value, sizeof value) != cudaSuccess);
  CHECK(cudaMemcpyToSymbol(factor, &value, sizeof value) == cudaSuccess);
  CHECK(simt::take_host_copies().to_host == 0);
  CHECK(cudaMemcpyFromSymbol(&value, factor, sizeof value) == cudaSuccess);
  CHECK(simt::take_host_copies().to_host == sizeof value);
}

TEST_CASE("memory that the host may take back is not shared", "[simt][host_first]") {
  const HostFirstDevice device;
  const auto memory = std::make_unique<int>(4);
  CHECK(cudaHostRegister(memory.get(), sizeof(int), 0) == cudaErrorNotSupported);
  CHECK(cudaGetLastError() == cudaErrorNotSupported);
}

TEST_CASE("a fault of work that was put off is told at the end", "[simt][host_first]") {
  const HostFirstDevice device;
  store_kernel<<<1, 1>>>(nullptr, 1);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(cudaGetLastError() == cudaSuccess);
  CHECK(only_fault().kind == "null_pointer");
}

TEST_CASE("a device that fails while an answer is looked for tells nothing", "[simt][host_first]") {
  const HostFirstDevice device;
  const int* const x = device_array<int>(1, 2);
  store_kernel<<<1, 1>>>(nullptr, 1);
  int value = -1;
  CHECK(cudaMemcpy(&value, x, sizeof value, cudaMemcpyDeviceToHost) == cudaErrorIllegalAddress);
  CHECK(found().empty());
  CHECK(failures() == 1);
  CHECK(only_fault().kind == "null_pointer");
}

TEST_CASE("an answer comes of what was waited for, and nothing else is done then", "[simt][host_first]") {
  const HostFirstDevice device;
  int* const x = device_array<int>(1, 2);
  cudaStream_t apart = nullptr;
  REQUIRE(cudaStreamCreateWithFlags(&apart, cudaStreamNonBlocking) == cudaSuccess);
  spare = 0;
  spare_kernel<<<1, 1, 0, apart>>>();
  store_kernel<<<1, 1>>>(x, 7);
  int value = -1;
  REQUIRE(cudaMemcpy(&value, x, sizeof value, cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK(found().size() == 1);
  CHECK(simt::take_faults().empty());
  CHECK(spare == 0);
}
