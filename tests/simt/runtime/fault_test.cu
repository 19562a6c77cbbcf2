#undef NDEBUG  // the assertions under test are in kernels
#include <cooperative_groups.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cassert>
#include <climits>
#include <cstdint>
#include <ctime>
#include <stdexcept>

#include "support.hpp"

namespace {

using Catch::Matchers::ContainsSubstring;

__global__ void null_kernel(int* pointer) {
  if (blockIdx.x == 1 && threadIdx.x == 5) pointer[2] = 1;
}
constexpr int kNullLine = __LINE__ - 2;

__global__ void wild_kernel(const int* pointer, std::int64_t index, int* out) { *out = pointer[index]; }
__global__ void read_host_kernel(const float* host, float* out) { out[threadIdx.x] = host[threadIdx.x]; }
__device__ int recurse(int* data, int depth) {
  volatile int frame[64];
  frame[depth % 64] = depth;
  if (depth < INT_MAX) return recurse(data, depth + 1) + frame[depth % 64];
  return 0;
}
__global__ void recurse_kernel(int* data) { *data = recurse(data, 0); }
__global__ void divide_kernel(int* data, int divisor) { data[0] = 100 / divisor; }
// For both sides: in what is for the device alone, the rewriter refuses the word.
__host__ __device__ void throw_error() { throw std::runtime_error("from the kernel"); }
__host__ __device__ void throw_int() { throw 3; }
__global__ void throw_kernel(int* data) {
  if (threadIdx.x == 3) throw_error();
  data[threadIdx.x] = 1;
}
__global__ void throw_int_kernel() { throw_int(); }
__global__ void assert_kernel(int limit) {
  assert(static_cast<int>(threadIdx.x) < limit && "too many threads");
}
__global__ void trap_kernel() { __trap(); }
__global__ void abort_kernel() { abort(); }
__global__ void endless_kernel(volatile int* data) {
  if (blockIdx.x == 2 && threadIdx.x == 1)
    while (data[0] == 0) {
    }
}
__global__ void sleeping_kernel(int milliseconds) {
  for (int i = 0; i < milliseconds; i += 10) usleep(10'000);
}
__global__ void drowsy_kernel(int milliseconds) {  // awake for a twentieth of the time
  for (int i = 0; i < milliseconds; i += 10) {
    for (const std::clock_t start = std::clock(); std::clock() - start < CLOCKS_PER_SEC / 2000;) {
    }
    usleep(9'500);
  }
}
__global__ void endless_barrier_kernel(const volatile int* data) {
  while (data[0] == 0) __syncthreads();
}
__global__ void endless_atomic_kernel(int* data) {
  while (atomicAdd(data, 0) == 0) {
  }
}
__global__ void endless_grid_kernel(const volatile int* data) {
  while (data[0] == 0) cooperative_groups::this_grid().sync();
}
__global__ void shuffle_or_barrier_kernel(int* out) {
  if (threadIdx.x < 16) {
    *out = __shfl_sync(0xffffffffu, 1, 0);
  } else {
    __syncthreads();
  }
}
constexpr int kShuffleLine = __LINE__ - 5, kBarrierLine = __LINE__ - 3;
__global__ void foreign_mask_kernel(int* out) { out[threadIdx.x] = __shfl_sync(0x0000ffffu, 1, 0); }
/// The fault of what was launched, and the error that the next waiting call reports.
simt::Fault fault_of(cudaError_t expected) {
  REQUIRE(cudaDeviceSynchronize() == expected);
  return only_fault();
}

/// Runs `code` in a child process with stdout as a pipe; returns what it wrote and how it ended.
template <class Code>
std::pair<std::string, int> in_child(Code code) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], 1);
    close(ends[0]);
    code();
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  char buffer[512];
  for (ssize_t got; (got = read(ends[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(got));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return {text, status};
}

}  // namespace

TEST_CASE("a null pointer is named with file, line, block and thread", "[simt][fault]") {
  const FreshDevice device;
  null_kernel<<<3, 8>>>(nullptr);
  const simt::Fault fault = fault_of(cudaErrorIllegalAddress);
  REQUIRE(fault.kind == "null_pointer");
  REQUIRE(fault.line == kNullLine);
  REQUIRE_THAT(fault.file, ContainsSubstring("fault_test.cu"));
  REQUIRE(fault.block == std::array<unsigned, 3>{1, 0, 0});
  REQUIRE(fault.thread == std::array<unsigned, 3>{5, 0, 0});
  REQUIRE_THAT(fault.message,
               ContainsSubstring("in null_kernel, block (1,0,0), thread (5,0,0) wrote to a null pointer"));
}

TEST_CASE("an address outside of device memory is an illegal access", "[simt][fault]") {
  const FreshDevice device;
  int* data = device_array<int>(1);
  wild_kernel<<<1, 1>>>(data, -(std::int64_t{1} << 40), data);  // terabytes below: nothing is there
  simt::Fault fault = fault_of(cudaErrorIllegalAddress);
  REQUIRE(fault.kind == "illegal_address");
  REQUIRE_THAT(fault.message,
               ContainsSubstring("read from address 0x") && ContainsSubstring("no memory of the device"));
  simt::reset();
  data = device_array<int>(1);
  wild_kernel<<<1, 1>>>(data, std::int64_t{1} << 50, data);  // not even an address
  fault = fault_of(cudaErrorIllegalAddress);
  REQUIRE(fault.kind == "illegal_address");
  REQUIRE_THAT(fault.message, ContainsSubstring("used an address out of all range"));
}

TEST_CASE("a kernel that reads protected host memory is told to copy it", "[simt][fault]") {
  const FreshDevice device;
  const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* memory = mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  auto* host = static_cast<float*>(memory);
  host[3] = 4.0f;
  simt::protect_host_range(memory, page);
  float* out = device_array<float>(32);
  read_host_kernel<<<1, 32>>>(host, out);
  const simt::Fault fault = fault_of(cudaErrorIllegalAddress);
  REQUIRE(fault.kind == "host_pointer_in_kernel");
  REQUIRE_THAT(fault.message, ContainsSubstring("A kernel sees device memory only"));
  REQUIRE(host[3] == 4.0f);  // accessible again
  simt::unprotect_host_range(memory);
  munmap(memory, page);
}

TEST_CASE("endless recursion is a stack overflow and nothing worse", "[simt][fault]") {
  const FreshDevice device;
  recurse_kernel<<<1, 4>>>(device_array<int>(1));
  const simt::Fault fault = fault_of(cudaErrorHardwareStackError);
  REQUIRE(fault.kind == "stack_overflow");
  REQUIRE_THAT(fault.message, ContainsSubstring("fault_test.cu:") && ContainsSubstring("recursion"));
}

TEST_CASE("arithmetic, assertions, traps and aborts end the launch with a sentence", "[simt][fault]") {
  const FreshDevice device;
  divide_kernel<<<1, 1>>>(device_array<int>(1), 0);
  REQUIRE(fault_of(cudaErrorLaunchFailure).kind == "division_by_zero");
  simt::reset();
  assert_kernel<<<1, 32>>>(10);
  const simt::Fault assertion = fault_of(cudaErrorAssert);
  REQUIRE(assertion.kind == "assertion");
  REQUIRE(assertion.thread[0] == 10);
  REQUIRE_THAT(assertion.message, ContainsSubstring("too many threads"));
  simt::reset();
  trap_kernel<<<1, 1>>>();
  REQUIRE(fault_of(cudaErrorLaunchFailure).kind == "trap");
  simt::reset();
  abort_kernel<<<1, 1>>>();
  REQUIRE(fault_of(cudaErrorLaunchFailure).kind == "abort");
}

TEST_CASE("an exception that leaves a kernel is reported with its text", "[simt][fault]") {
  const FreshDevice device;
  throw_kernel<<<1, 8>>>(device_array<int>(8));
  const simt::Fault fault = fault_of(cudaErrorLaunchFailure);
  REQUIRE(fault.kind == "exception");
  REQUIRE(fault.thread[0] == 3);
  REQUIRE_THAT(fault.message, ContainsSubstring("from the kernel") && ContainsSubstring("fault_test.cu:"));
  simt::reset();
  throw_int_kernel<<<1, 1>>>();
  REQUIRE_THAT(fault_of(cudaErrorLaunchFailure).message, ContainsSubstring("an exception of type 'int'"));
}

TEST_CASE("a kernel that never ends is stopped, whatever it does meanwhile", "[simt][fault]") {
  const FreshDevice device;
  simt::configure({.launch_seconds = 0.1});
  endless_kernel<<<4, 32>>>(device_array<int>(1));
  const simt::Fault loop = fault_of(cudaErrorLaunchTimeout);
  REQUIRE(loop.kind == "endless_loop");
  REQUIRE(loop.block[0] == 2);
  REQUIRE(loop.thread[0] == 1);
  REQUIRE_THAT(loop.message,
               ContainsSubstring("fault_test.cu:") && ContainsSubstring("still running after 0.1 s"));
  simt::reset();
  endless_barrier_kernel<<<2, 64>>>(device_array<int>(1));
  REQUIRE(fault_of(cudaErrorLaunchTimeout).kind == "endless_loop");
  simt::reset();
  endless_atomic_kernel<<<2, 64>>>(device_array<int>(1));
  REQUIRE(fault_of(cudaErrorLaunchTimeout).kind == "endless_loop");
}

// The threads of its blocks end one by one, while the watchdog looks for those that still run.
TEST_CASE("a cooperative launch that never ends is stopped, in check mode as well", "[simt][fault]") {
  const FreshDevice device;
  for (const bool check : {false, true}) {
    simt::configure({.launch_seconds = 0.2, .check = check});
    const int* data = device_array<int>(1);
    void* arguments[] = {&data};
    cudaLaunchCooperativeKernel(endless_grid_kernel, dim3(200), dim3(32), arguments);
    REQUIRE(fault_of(cudaErrorLaunchTimeout).kind == "endless_loop");
    simt::reset();
  }
  simt::configure({});
}

TEST_CASE("time in which a kernel has no processor is not counted, unless it sleeps for four times its limit",
          "[simt][fault]") {
  const FreshDevice device;
  simt::configure({.launch_seconds = 0.2});
  sleeping_kernel<<<1, 1>>>(250);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  drowsy_kernel<<<1, 1>>>(1500);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  REQUIRE(simt::take_faults().empty());
  sleeping_kernel<<<1, 1>>>(1500);
  REQUIRE(fault_of(cudaErrorLaunchTimeout).kind == "endless_loop");
}

TEST_CASE("a deadlock is found at once and names both places", "[simt][fault]") {
  const FreshDevice device;
  shuffle_or_barrier_kernel<<<1, 32>>>(device_array<int>(1));
  const simt::Fault fault = fault_of(cudaErrorLaunchTimeout);
  REQUIRE(fault.kind == "deadlock");
  REQUIRE(fault.line == kShuffleLine);
  REQUIRE_THAT(fault.message, ContainsSubstring("fault_test.cu:" + std::to_string(kBarrierLine)) &&
                                  ContainsSubstring("lanes 16 to 31"));
}

TEST_CASE("a warp operation whose mask leaves out the caller is refused", "[simt][fault]") {
  const FreshDevice device;
  foreign_mask_kernel<<<1, 32>>>(device_array<int>(32));
  const simt::Fault fault = fault_of(cudaErrorLaunchFailure);
  REQUIRE(fault.kind == "illegal_mask");
  REQUIRE(fault.thread[0] == 16);
  REQUIRE_THAT(fault.message, ContainsSubstring("0x0000ffff"));
}

TEST_CASE("after a fault and a reset the device works as before", "[simt][fault]") {
  const FreshDevice device;
  for (int round = 0; round < 5; ++round) {
    null_kernel<<<3, 8>>>(nullptr);
    REQUIRE(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    recurse_kernel<<<1, 4>>>(nullptr);  // dropped: the error is sticky
    REQUIRE(simt::take_faults().size() == 1);
    simt::reset();
    int* data = device_array<int>(8);
    divide_kernel<<<1, 1>>>(data, 5);
    REQUIRE(to_host(data, 1)[0] == 20);
  }
}

TEST_CASE("host code that touches device memory ends with a sentence", "[simt][fault]") {
  const auto [text, status] = in_child([] {
    simt::set_fatal_handler([](const simt::Fault& fault) {
      if (write(1, fault.message.data(), fault.message.size()) < 0) _exit(9);
    });
    float* data = nullptr;
    cudaMalloc(&data, 400);
    data[7] = 1.0f;
  });
  REQUIRE(WIFSIGNALED(status));
  REQUIRE(WTERMSIG(status) == SIGSEGV);
  REQUIRE_THAT(text, ContainsSubstring("host code wrote to device memory") &&
                         ContainsSubstring("cudaMemcpy") && ContainsSubstring("fault_test.cu:"));
}
