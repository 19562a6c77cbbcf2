#include <cstdint>

#include "support.hpp"

namespace {

__global__ void mark_kernel(int* out) {
  const std::uint64_t block =
      blockIdx.x + std::uint64_t{gridDim.x} * (blockIdx.y + std::uint64_t{gridDim.y} * blockIdx.z);
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  atomicAdd(&out[block * blockDim.x * blockDim.y * blockDim.z + thread], 1);
}

__global__ void empty_kernel() {}
__global__ void dynamic_kernel(int* out) {
  extern __shared__ int words[];
  words[0] = 1;
  *out = words[0];
}
template <int kNumber>
__global__ void dynamic_template_kernel(int* out) {
  extern __shared__ int words[];
  *out = words[0] = kNumber;
}
template <int kNumber>
__global__ void dynamic_default_kernel(int* out, int more = 100) {
  extern __shared__ int words[];
  *out = words[0] = kNumber + more;
}
template <class T>
__global__ void dynamic_deduced_kernel(T* out) {
  extern __shared__ int words[];
  *out = static_cast<T>(words[0] = 7);
}
namespace other {
__global__ void dynamic_kernel(int* out) {
  extern __shared__ int words[];
  *out = words[0] = 2;
}
}  // namespace other

struct Big {
  float values[64];
  const float* pointer;
};
__global__ void by_value_kernel(Big big, float scale, float* out) {
  out[threadIdx.x] = big.values[threadIdx.x] * scale;
}

std::string refusal() {
  REQUIRE(cudaGetLastError() == cudaErrorInvalidValue);
  const simt::Fault fault = only_fault();
  REQUIRE(fault.kind == "launch_refused");
  REQUIRE_THAT(fault.file, Catch::Matchers::ContainsSubstring("launch_test.cu"));
  return fault.message;
}

__global__ void store_kernel(int* out, int value, int at) { out[at] = value; }
using StoreKernel = void (*)(int*, int, int);
template <int kFactor>
__global__ void store_template_kernel(int* out, int value, int at) {
  out[at] = value * kFactor;
}
struct Pair {
  int first, second;
};
__global__ void store_pair_kernel(int* out, Pair pair, int at) {
  out[at] = pair.first;
  out[at + 1] = pair.second;
}
__global__ void overloaded_kernel(int* out, int) { *out = 10; }
__global__ void overloaded_kernel(int* out, float) { *out = 20; }
__global__ void default_kernel(int* out, int value = 42) { *out = value; }
template <class T>
__global__ void deduced_kernel(int* out, T value) {
  *out = static_cast<int>(value);
}

/// Device memory that cannot be copied, and converts to a pointer.
struct Owner {
  explicit Owner(std::size_t count) : data(device_array<int>(count)) {}
  Owner(const Owner&) = delete;
  operator int*() const { return data; }
  int* data;
};
/// Counts how often it is made a number.
struct Number {
  operator int() {
    ++asked;
    return value;
  }
  int value, asked = 0;
};
struct Constants {
  static const int kSecond = 7;  // declared, and defined nowhere
};
struct Launcher {
  StoreKernel kernel;
  void run(int* out, int value, int at) const { kernel<<<1, 1>>>(out, value, at); }
};
struct KernelTable {
  KernelTable() = default;
  KernelTable(const KernelTable&) = delete;
  StoreKernel kernels[2] = {store_kernel, store_template_kernel<1>};
  int used = 0;
};

template <int kThreads>
__global__ void __launch_bounds__(kThreads, 2) bounded_kernel(int* out) {
  atomicAdd(out, 1);
}
extern "C" __global__ void __launch_bounds__(64) bounded_plain_kernel(int* out) { atomicAdd(out, 1); }

__global__ void resize_kernel() {
  const_cast<volatile unsigned&>(gridDim.x) = 77;
  const_cast<volatile unsigned&>(threadIdx.x) = 78;
}

}  // namespace

TEST_CASE("every thread of every block runs once, whatever the shape", "[simt][launch]") {
  const FreshDevice device;
  const dim3 shapes[][2] = {{dim3(1), dim3(1)},
                            {dim3(7), dim3(33)},
                            {dim3(3, 4, 5), dim3(2, 3, 4)},
                            {dim3(1000), dim3(1)},
                            {dim3(1, 65), dim3(4, 8)},
                            {dim3(2), dim3(16, 64)},
                            {dim3(1, 1, 9), dim3(1, 1, 64)}};
  for (const auto& [grid, block] : shapes) {
    const std::size_t count = std::size_t{grid.x} * grid.y * grid.z * block.x * block.y * block.z;
    int* out = device_array<int>(count);
    mark_kernel<<<grid, block>>>(out);
    REQUIRE(to_host(out, count) == std::vector<int>(count, 1));
  }
}

TEST_CASE("launches beyond the limits are refused with the limit in the message", "[simt][launch]") {
  const FreshDevice device;
  using Catch::Matchers::ContainsSubstring;
  empty_kernel<<<1, 1025>>>();
  REQUIRE_THAT(refusal(), ContainsSubstring("blockDim.x is 1025; the limit is 1024"));
  empty_kernel<<<1, dim3(64, 32)>>>();
  REQUIRE_THAT(refusal(), ContainsSubstring("2048 threads; the limit is 1024"));
  empty_kernel<<<1, dim3(1, 1, 65)>>>();
  REQUIRE_THAT(refusal(), ContainsSubstring("blockDim.z is 65; the limit is 64"));
  empty_kernel<<<0, 32>>>();
  REQUIRE_THAT(refusal(), ContainsSubstring("has no blocks"));
  empty_kernel<<<1, 0>>>();
  REQUIRE_THAT(refusal(), ContainsSubstring("has no threads"));
  empty_kernel<<<dim3(1, 65536), 1>>>();
  REQUIRE_THAT(refusal(), ContainsSubstring("gridDim.y is 65536; the limit is 65535"));
  empty_kernel<<<dim3(1, 1, 65536), 1>>>();
  REQUIRE_THAT(refusal(), ContainsSubstring("gridDim.z is 65536"));
  empty_kernel<<<0x80000000u, 1>>>();
  REQUIRE_THAT(refusal(), ContainsSubstring("gridDim.x is 2147483648"));
  empty_kernel<<<dim3(1, 65535), dim3(1, 1, 64)>>>();
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
}

TEST_CASE("the grid limit can be made stricter", "[simt][launch]") {
  const FreshDevice device;
  simt::configure({.max_grid_x = 10});
  empty_kernel<<<10, 1>>>();
  REQUIRE(cudaGetLastError() == cudaSuccess);
  empty_kernel<<<11, 1>>>();
  REQUIRE_THAT(refusal(), Catch::Matchers::ContainsSubstring("gridDim.x is 11; the limit is 10"));
  int limit = 0;
  REQUIRE(cudaDeviceGetAttribute(&limit, cudaDevAttrMaxGridDimX, 0) == cudaSuccess);
  REQUIRE(limit == 10);
}

TEST_CASE("more than 48 KB of dynamic shared memory needs the kernel's consent", "[simt][launch]") {
  const FreshDevice device;
  int* out = device_array<int>(1);
  dynamic_kernel<<<1, 1, 49152>>>(out);
  REQUIRE(cudaGetLastError() == cudaSuccess);
  dynamic_kernel<<<1, 1, 49153>>>(out);
  REQUIRE_THAT(refusal(), Catch::Matchers::ContainsSubstring("cudaFuncSetAttribute"));
  REQUIRE(cudaFuncSetAttribute(dynamic_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024) ==
          cudaSuccess);
  dynamic_kernel<<<1, 1, 227 * 1024>>>(out);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  dynamic_template_kernel<4><<<1, 1, 100000>>>(out);  // another kernel has not consented
  REQUIRE_THAT(refusal(), Catch::Matchers::ContainsSubstring("dynamic_template_kernel<4>"));
  REQUIRE(cudaFuncSetAttribute(dynamic_template_kernel<4>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               100000) == cudaSuccess);
  dynamic_template_kernel<4><<<1, 1, 100000>>>(out);
  REQUIRE(to_host(out, 1)[0] == 4);
  const auto through_a_pointer = dynamic_template_kernel<4>;  // which has consented under its own name
  through_a_pointer<<<1, 1, 100000>>>(out);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  through_a_pointer<<<1, 1, 100001>>>(out);
  REQUIRE_THAT(refusal(), Catch::Matchers::ContainsSubstring("dynamic_template_kernel<4>"));
  REQUIRE(cudaFuncSetAttribute(dynamic_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 300 * 1024) ==
          cudaErrorInvalidValue);
}

TEST_CASE("each instance of a template consents for itself, in any order", "[simt][launch]") {
  const FreshDevice device;
  using Catch::Matchers::ContainsSubstring;
  int* out = device_array<int>(1);
  const auto allow = [](auto* kernel, int bytes) {
    REQUIRE(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) == cudaSuccess);
  };
  allow(dynamic_template_kernel<4>, 100000);
  dynamic_template_kernel<8><<<1, 1, 100000>>>(out);
  REQUIRE_THAT(refusal(), ContainsSubstring("dynamic_template_kernel<8>") &&
                              ContainsSubstring("for this instance of the template"));
  allow(dynamic_template_kernel<8>, 60000);
  dynamic_template_kernel<4><<<1, 1, 100000>>>(out);
  REQUIRE(to_host(out, 1)[0] == 4);
  dynamic_template_kernel<8><<<1, 1, 60000>>>(out);
  REQUIRE(to_host(out, 1)[0] == 8);
  dynamic_template_kernel<8><<<1, 1, 100000>>>(out);
  REQUIRE_THAT(refusal(), ContainsSubstring("cudaFuncSetAttribute() has allowed it 60000"));
  void* arguments[] = {&out};
  REQUIRE(cudaLaunchKernel(dynamic_template_kernel<4>, dim3(1), dim3(1), arguments, 100000) == cudaSuccess);
  REQUIRE(cudaLaunchKernel(dynamic_template_kernel<8>, dim3(1), dim3(1), arguments, 100000) ==
          cudaErrorInvalidValue);
  REQUIRE_THAT(refusal(), ContainsSubstring("dynamic_template_kernel"));

  allow(dynamic_kernel, 100000);
  other::dynamic_kernel<<<1, 1, 100000>>>(out);
  REQUIRE_THAT(refusal(), ContainsSubstring("dynamic_kernel"));

  allow(dynamic_default_kernel<1>, 100000);
  dynamic_default_kernel<1><<<1, 1, 100000>>>(out);
  REQUIRE(to_host(out, 1)[0] == 101);
  dynamic_default_kernel<2><<<1, 1, 100000>>>(out);
  REQUIRE_THAT(refusal(), ContainsSubstring("dynamic_default_kernel<2>"));

  dynamic_deduced_kernel<<<1, 1, 100000>>>(out);  // of which a call alone tells the instance
  REQUIRE_THAT(refusal(), ContainsSubstring("dynamic_deduced_kernel"));
  allow(dynamic_deduced_kernel<int>, 100000);
  allow(dynamic_deduced_kernel<float>, 60000);
  dynamic_deduced_kernel<<<1, 1, 100000>>>(out);
  REQUIRE(to_host(out, 1)[0] == 7);
}

// 40 KB and 64 KB: 8 KB are left beside the former, and no GPU's compiler takes the latter.
template <int kFloats>
__global__ void static_kernel(int* out) {
  __shared__ float tile[kFloats];
  tile[threadIdx.x] = 1.0f;
  *out = static_cast<int>(tile[threadIdx.x]);
}

TEST_CASE("a launch is held against the kernel's launch bounds", "[simt][launch]") {
  const FreshDevice device;
  using Catch::Matchers::ContainsSubstring;
  int* out = device_array<int>(1);
  bounded_kernel<128><<<1, 128>>>(out);
  bounded_kernel<256><<<1, dim3(16, 16)>>>(out);
  bounded_plain_kernel<<<2, 64>>>(out);
  REQUIRE(to_host(out, 1)[0] == 512);
  bounded_kernel<128><<<1, 129>>>(out);
  REQUIRE_THAT(refusal(), ContainsSubstring("a block has 129 threads, and the kernel's __launch_bounds__ "
                                            "promise 128 at most"));
  bounded_plain_kernel<<<1, dim3(8, 3, 3)>>>(out);
  REQUIRE_THAT(refusal(), ContainsSubstring("a block has 72 threads"));
  const auto through_a_pointer = bounded_kernel<96>;
  through_a_pointer<<<1, 128>>>(out);
  REQUIRE_THAT(refusal(), ContainsSubstring("promise 96 at most"));
  REQUIRE(to_host(out, 1)[0] == 512);

  cudaFuncAttributes attributes{};
  REQUIRE(cudaFuncGetAttributes(&attributes, bounded_kernel<128>) == cudaSuccess);
  REQUIRE(attributes.maxThreadsPerBlock == 128);
  REQUIRE(cudaFuncGetAttributes(&attributes, static_kernel<16>) == cudaSuccess);
  REQUIRE(attributes.maxThreadsPerBlock == 1024);
}

TEST_CASE("__shared__ variables take from the 48 KB of a kernel", "[simt][launch]") {
  const FreshDevice device;
  using Catch::Matchers::ContainsSubstring;
  int* out = device_array<int>(1);
  static_kernel<10240><<<1, 1, 8192>>>(out);
  REQUIRE(to_host(out, 1)[0] == 1);
  static_kernel<10240><<<1, 1, 8193>>>(out);
  REQUIRE_THAT(refusal(), ContainsSubstring("beside 40960 of __shared__ variables"));
  const auto through_a_pointer = static_kernel<16384>;
  through_a_pointer<<<1, 1>>>(out);
  REQUIRE_THAT(refusal(),
               ContainsSubstring("has 65536 bytes of __shared__ variables; a kernel may have 49152"));
  cudaFuncAttributes attributes{};
  REQUIRE(cudaFuncGetAttributes(&attributes, static_kernel<10240>) == cudaSuccess);
  REQUIRE(attributes.sharedSizeBytes == 40960);
  REQUIRE(attributes.maxDynamicSharedSizeBytes == 8192);
}

TEST_CASE("a cooperative launch has as many blocks as fit with the kernel's own shared memory",
          "[simt][launch]") {
  const FreshDevice device;
  using Catch::Matchers::ContainsSubstring;
  int* out = device_array<int>(1);
  void* arguments[] = {&out};
  const auto too_large = [] {
    REQUIRE(cudaGetLastError() == cudaErrorCooperativeLaunchTooLarge);
    return only_fault().message;
  };
  REQUIRE(cudaFuncSetAttribute(dynamic_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000) ==
          cudaSuccess);
  REQUIRE(cudaLaunchCooperativeKernel(dynamic_kernel, dim3(2), dim3(1), arguments, 100000) == cudaSuccess);
  REQUIRE(to_host(out, 1)[0] == 1);
  (void)cudaLaunchCooperativeKernel(dynamic_kernel, dim3(265), dim3(1), arguments, 100000);
  REQUIRE_THAT(too_large(), ContainsSubstring("265 blocks, of which only 264 fit"));  // 132 multiprocessors
  (void)cudaLaunchCooperativeKernel(static_kernel<10240>, dim3(700), dim3(256), arguments);
  REQUIRE_THAT(too_large(), ContainsSubstring("only 660 fit"));  // 5 times 41 KB, on each
}

TEST_CASE("a device profile brings its own limits", "[simt][launch]") {
  const FreshDevice device;
  simt::configure({.device = "rtx4090"});
  int* out = device_array<int>(1);
  REQUIRE(cudaFuncSetAttribute(dynamic_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 * 1024) ==
          cudaErrorInvalidValue);
  REQUIRE(cudaFuncSetAttribute(dynamic_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 99 * 1024) ==
          cudaSuccess);
  dynamic_kernel<<<1, 1, 99 * 1024>>>(out);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  cudaDeviceProp properties{};
  REQUIRE(cudaGetDeviceProperties(&properties, 0) == cudaSuccess);
  REQUIRE(properties.major == 8);
  REQUIRE(properties.minor == 9);
  REQUIRE(properties.multiProcessorCount == 128);
  REQUIRE_THROWS_WITH(simt::configure({.device = "gtx"}), Catch::Matchers::ContainsSubstring("known are t4"));
}

TEST_CASE("arguments are copied at the launch", "[simt][launch]") {
  const FreshDevice device;
  float* out = device_array<float>(64);
  Big big{};
  for (int i = 0; i < 64; ++i) big.values[i] = static_cast<float>(i);
  float scale = 2.0f;
  by_value_kernel<<<1, 64>>>(big, scale, out);
  scale = 100.0f;
  big.values[5] = -1.0f;
  REQUIRE(to_host(out, 64)[5] == 10.0f);
}

TEST_CASE("arguments become the kernel's parameters at the launch", "[simt][launch]") {
  const FreshDevice device;
  const Owner out(4);
  Number number{1};
  store_kernel<<<1, 1>>>(out, number, 0);
  REQUIRE(number.asked == 1);
  number.value = 100;
  store_template_kernel<1><<<1, 1>>>(out, number, 1);
  REQUIRE(number.asked == 2);
  number.value = 200;
  store_pair_kernel<<<1, 1>>>(out, {number, Constants::kSecond}, 2);
  number.value = 300;
  REQUIRE(to_host(out.data, 4) == std::vector<int>{1, 100, 200, 7});
}

TEST_CASE("the kernel's name is evaluated once, at the launch", "[simt][launch]") {
  const FreshDevice device;
  const Owner out(4);
  static StoreKernel chosen = store_kernel;
  chosen<<<1, 1>>>(out, 1, 0);
  chosen = nullptr;
  Launcher{store_kernel}.run(out, 2, 1);
  KernelTable table;
  table.kernels[table.used++]<<<1, 1>>>(out, 3, 2);
  REQUIRE(table.used == 1);
  table.kernels[table.used++]<<<1, 1>>>(out, 4, 3);
  table.kernels[1] = nullptr;
  REQUIRE(to_host(out.data, 4) == std::vector<int>{1, 2, 3, 4});
}

TEST_CASE("of overloaded kernels, templates and default arguments, a launch means what a call means",
          "[simt][launch]") {
  const FreshDevice device;
  int* out = device_array<int>(4);
  overloaded_kernel<<<1, 1>>>(out, 1);
  overloaded_kernel<<<1, 1>>>(out + 1, 1.0f);
  default_kernel<<<1, 1>>>(out + 2);
  deduced_kernel<<<1, 1>>>(out + 3, 8.75);
  REQUIRE(to_host(out, 4) == std::vector<int>{10, 20, 42, 8});
}

TEST_CASE("accepted launches are listed with their shapes", "[simt][launch]") {
  const FreshDevice device;
  (void)simt::take_launches();
  empty_kernel<<<dim3(3, 2), dim3(8, 4)>>>();
  empty_kernel<<<1, 2000>>>();
  dynamic_template_kernel<7><<<2, 1, 64>>>(nullptr);
  const auto launches = simt::take_launches();
  REQUIRE(launches.size() == 2);  // the refused one is none
  REQUIRE(launches[0].kernel == "empty_kernel");
  REQUIRE(launches[0].grid == std::array<unsigned, 3>{3, 2, 1});
  REQUIRE(launches[0].block == std::array<unsigned, 3>{8, 4, 1});
  REQUIRE(launches[1].kernel == "dynamic_template_kernel<7>");
  REQUIRE(launches[1].dynamic_shared_bytes == 64);
  REQUIRE(simt::take_launches().empty());
}

TEST_CASE("nothing is left in the built-in variables when a block has ended", "[simt][launch]") {
  const FreshDevice device;
  resize_kernel<<<1, 1>>>();
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(static_cast<const volatile unsigned&>(gridDim.x) <= 1);
  CHECK(static_cast<const volatile unsigned&>(threadIdx.x) == 0);
}
