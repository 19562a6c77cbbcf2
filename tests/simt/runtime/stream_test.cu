#include <cstdint>
#include <functional>

#include "support.hpp"

namespace {

__global__ void set_kernel(int* out, int value) { *out = value; }
__global__ void add_kernel(int* out, int value) { *out += value; }

}  // namespace

TEST_CASE("a launch has not run before the host waits for it", "[simt][stream]") {
  const FreshDevice device;
  int* shared = nullptr;
  REQUIRE(cudaMallocManaged(&shared, sizeof(int)) == cudaSuccess);
  *shared = 1;
  set_kernel<<<1, 1>>>(shared, 2);
  REQUIRE(*shared == 1);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  REQUIRE(*shared == 2);
  cudaFree(shared);
}

TEST_CASE("operations of one stream run in order", "[simt][stream]") {
  const FreshDevice device;
  cudaStream_t stream = nullptr;
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  int* value = device_array<int>(1);
  for (int i = 1; i <= 10; ++i) {
    set_kernel<<<1, 1, 0, stream>>>(value, i * 100);
    add_kernel<<<1, 1, 0, stream>>>(value, i);
  }
  int* pinned = nullptr;
  REQUIRE(cudaMallocHost(&pinned, sizeof(int)) == cudaSuccess);
  *pinned = 0;
  REQUIRE(cudaMemcpyAsync(pinned, value, sizeof(int), cudaMemcpyDeviceToHost, stream) == cudaSuccess);
  REQUIRE(*pinned == 0);
  REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
  REQUIRE(*pinned == 1010);
  REQUIRE(cudaFreeHost(pinned) == cudaSuccess);
  REQUIRE(cudaStreamDestroy(stream) == cudaSuccess);
}

TEST_CASE("what a host function queues runs before a wait for the device ends", "[simt][stream]") {
  const FreshDevice device;
  struct Later {
    cudaStream_t stream = nullptr;
    int* value = nullptr;
  } later;
  REQUIRE(cudaStreamCreateWithFlags(&later.stream, cudaStreamNonBlocking) == cudaSuccess);
  REQUIRE(cudaMallocManaged(&later.value, sizeof(int)) == cudaSuccess);
  *later.value = 1;
  const auto set_later = [](void* data) {
    const auto& [stream, value] = *static_cast<Later*>(data);
    set_kernel<<<1, 1, 0, stream>>>(value, 2);
  };
  REQUIRE(cudaLaunchHostFunc(nullptr, set_later, &later) == cudaSuccess);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(*later.value == 2);
  REQUIRE(cudaFree(later.value) == cudaSuccess);
  REQUIRE(cudaStreamDestroy(later.stream) == cudaSuccess);
}

TEST_CASE("work aside is what neither the host nor the default stream waits for", "[simt][stream]") {
  const FreshDevice device;
  cudaStream_t aside = nullptr, ordered = nullptr;
  cudaEvent_t event = nullptr;
  REQUIRE(cudaStreamCreateWithFlags(&aside, cudaStreamNonBlocking) == cudaSuccess);
  REQUIRE(cudaStreamCreate(&ordered) == cudaSuccess);
  REQUIRE(cudaEventCreate(&event) == cudaSuccess);
  int* value = device_array<int>(1);
  const auto launch = [&](cudaStream_t stream) { set_kernel<<<1, 1, 0, stream>>>(value, 2); };
  launch(nullptr);
  launch(ordered);
  REQUIRE(cudaEventRecord(event) == cudaSuccess);
  REQUIRE(cudaStreamWaitEvent(aside, event) == cudaSuccess);
  CHECK_FALSE(simt::has_work_aside());
  launch(aside);
  CHECK(simt::has_work_aside());
  REQUIRE(cudaEventRecord(event, aside) == cudaSuccess);
  CHECK(simt::has_work_aside());
  REQUIRE(cudaStreamWaitEvent(ordered, event) == cudaSuccess);  // which the default stream waits for
  CHECK_FALSE(simt::has_work_aside());
  launch(aside);
  CHECK(simt::has_work_aside());
  SECTION("the host waits") { REQUIRE(cudaStreamSynchronize(aside) == cudaSuccess); }
  SECTION("the host waits for an event") {
    REQUIRE(cudaEventRecord(event, aside) == cudaSuccess);
    REQUIRE(cudaEventSynchronize(event) == cudaSuccess);
  }
  SECTION("the host waits for all") { REQUIRE(cudaDeviceSynchronize() == cudaSuccess); }
  CHECK_FALSE(simt::has_work_aside());
  REQUIRE(cudaMemsetAsync(value, 0, sizeof(int), aside) == cudaSuccess);
  REQUIRE(cudaStreamDestroy(aside) == cudaSuccess);
  CHECK(simt::has_work_aside());
  REQUIRE(cudaFree(value) == cudaSuccess);
  CHECK_FALSE(simt::has_work_aside());
  REQUIRE(cudaStreamDestroy(ordered) == cudaSuccess);
  REQUIRE(cudaEventDestroy(event) == cudaSuccess);
}

TEST_CASE("an asynchronous copy to pageable memory is done when the call returns", "[simt][stream]") {
  const FreshDevice device;
  int* value = device_array<int>(1);
  set_kernel<<<1, 1>>>(value, 42);
  int host = 0;
  REQUIRE(cudaMemcpyAsync(&host, value, sizeof host, cudaMemcpyDeviceToHost) == cudaSuccess);
  REQUIRE(host == 42);
}

TEST_CASE("an asynchronous copy from pageable memory reads it at once", "[simt][stream]") {
  const FreshDevice device;
  int* value = device_array<int>(1);
  int host = 41;
  REQUIRE(cudaMemcpyAsync(value, &host, sizeof host, cudaMemcpyHostToDevice) == cudaSuccess);
  host = 0;
  REQUIRE(to_host(value, 1)[0] == 41);
}

TEST_CASE("an asynchronous copy from page-locked memory reads it late", "[simt][stream]") {
  const FreshDevice device;
  int* value = device_array<int>(1);
  int* pinned = nullptr;
  REQUIRE(cudaMallocHost(&pinned, sizeof(int)) == cudaSuccess);
  *pinned = 41;
  REQUIRE(cudaMemcpyAsync(value, pinned, sizeof(int), cudaMemcpyHostToDevice) == cudaSuccess);
  *pinned = 0;
  REQUIRE(to_host(value, 1)[0] == 0);
  cudaFreeHost(pinned);
}

TEST_CASE("the default stream waits for other streams, and they for it", "[simt][stream]") {
  const FreshDevice device;
  cudaStream_t stream = nullptr;
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  int* value = device_array<int>(1);
  set_kernel<<<1, 1>>>(value, 1);
  add_kernel<<<1, 1, 0, stream>>>(value, 10);
  set_kernel<<<1, 1>>>(value, 100);
  add_kernel<<<1, 1, 0, stream>>>(value, 1);
  REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
  REQUIRE(to_host(value, 1)[0] == 101);
}

TEST_CASE("a non-blocking stream does not wait for the default stream", "[simt][stream]") {
  const FreshDevice device;
  cudaStream_t stream = nullptr;
  REQUIRE(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
  int* value = device_array<int>(1);
  set_kernel<<<1, 1>>>(value, 7);
  add_kernel<<<1, 1, 0, stream>>>(value, 1);
  REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);  // adds to the old value
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);        // then the default stream sets it
  REQUIRE(to_host(value, 1)[0] == 7);
}

TEST_CASE("work of a stream that is destroyed runs later, in no order with other streams", "[simt][stream]") {
  for (const simt::Order order : {simt::Order::forward, simt::Order::reverse}) {
    const FreshDevice device(order);
    int* value = device_array<int>(1);
    set_kernel<<<1, 1>>>(value, 1);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    cudaStream_t first = nullptr, second = nullptr;
    REQUIRE(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking) == cudaSuccess);
    REQUIRE(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking) == cudaSuccess);
    const bool first_is_first = std::less<>()(first, second) == (order == simt::Order::reverse);
    set_kernel<<<1, 1, 0, first>>>(value, 5);
    add_kernel<<<1, 1, 0, second>>>(value, 10);
    REQUIRE(cudaStreamDestroy(first) == cudaSuccess);
    CHECK(cudaStreamSynchronize(first) == cudaErrorInvalidResourceHandle);
    REQUIRE(cudaStreamDestroy(second) == cudaSuccess);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(to_host(value, 1)[0] == (first_is_first ? 15 : 5));
  }
}

TEST_CASE("an event of a stream that is destroyed is waited for", "[simt][stream]") {
  const FreshDevice device;
  int* value = device_array<int>(1);
  cudaStream_t first = nullptr, second = nullptr;
  REQUIRE(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking) == cudaSuccess);
  REQUIRE(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking) == cudaSuccess);
  cudaEvent_t event = nullptr;
  REQUIRE(cudaEventCreate(&event) == cudaSuccess);
  set_kernel<<<1, 1, 0, first>>>(value, 5);
  REQUIRE(cudaEventRecord(event, first) == cudaSuccess);
  REQUIRE(cudaStreamDestroy(first) == cudaSuccess);
  REQUIRE(cudaStreamWaitEvent(second, event) == cudaSuccess);
  add_kernel<<<1, 1, 0, second>>>(value, 10);
  REQUIRE(cudaStreamSynchronize(second) == cudaSuccess);
  CHECK(to_host(value, 1)[0] == 15);
  REQUIRE(cudaEventSynchronize(event) == cudaSuccess);
  REQUIRE(cudaStreamDestroy(second) == cudaSuccess);
}

TEST_CASE("waiting for all runs streams that nothing orders in either order", "[simt][stream]") {
  for (const simt::Order order : {simt::Order::forward, simt::Order::reverse}) {
    const FreshDevice device(order);
    cudaStream_t stream = nullptr;
    REQUIRE(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
    int* value = device_array<int>(1);
    set_kernel<<<1, 1, 0, stream>>>(value, 1);
    set_kernel<<<1, 1>>>(value, 2);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(to_host(value, 1)[0] == (order == simt::Order::forward ? 2 : 1));
    REQUIRE(cudaStreamDestroy(stream) == cudaSuccess);
  }
}

TEST_CASE("who asks is told first that a stream or an event is not ready", "[simt][stream]") {
  for (const simt::Order order : {simt::Order::forward, simt::Order::reverse}) {
    const FreshDevice device(order);
    cudaStream_t stream = nullptr;
    cudaEvent_t event = nullptr;
    REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
    REQUIRE(cudaEventCreate(&event) == cudaSuccess);
    REQUIRE(cudaStreamQuery(stream) == cudaSuccess);  // there is nothing to wait for
    REQUIRE(cudaEventQuery(event) == cudaSuccess);
    int* value = nullptr;
    REQUIRE(cudaMallocManaged(&value, sizeof(int)) == cudaSuccess);
    *value = 0;
    const int answers = order == simt::Order::forward ? 1 : 1000;
    for (const bool asks_event : {false, true}) {
      add_kernel<<<1, 1, 0, stream>>>(value, 1);
      REQUIRE(cudaEventRecord(event, stream) == cudaSuccess);
      const auto ask = [&] { return asks_event ? cudaEventQuery(event) : cudaStreamQuery(stream); };
      int not_ready = 0;
      while (ask() == cudaErrorNotReady) ++not_ready;
      CHECK(not_ready == answers);
      CHECK(cudaGetLastError() == cudaSuccess);  // as on a GPU, that is no error to keep
      CHECK(ask() == cudaSuccess);
      CHECK(*value == (asks_event ? 2 : 1));
    }
    REQUIRE(cudaFree(value) == cudaSuccess);
    REQUIRE(cudaEventDestroy(event) == cudaSuccess);
    REQUIRE(cudaStreamDestroy(stream) == cudaSuccess);
  }
}

TEST_CASE("an event orders two streams", "[simt][stream]") {
  const FreshDevice device;
  cudaStream_t first = nullptr, second = nullptr;
  cudaEvent_t event = nullptr;
  REQUIRE(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking) == cudaSuccess);
  REQUIRE(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking) == cudaSuccess);
  REQUIRE(cudaEventCreate(&event) == cudaSuccess);
  int* value = device_array<int>(1);
  set_kernel<<<1, 1, 0, first>>>(value, 5);
  REQUIRE(cudaEventRecord(event, first) == cudaSuccess);
  REQUIRE(cudaStreamWaitEvent(second, event) == cudaSuccess);
  add_kernel<<<1, 1, 0, second>>>(value, 1);
  REQUIRE(cudaStreamSynchronize(second) == cudaSuccess);
  int host = 0;
  REQUIRE(cudaMemcpy(&host, value, sizeof host, cudaMemcpyDeviceToHost) == cudaSuccess);
  REQUIRE(host == 6);
}

TEST_CASE("a stream waits for what an event was when it was told to, whatever becomes of the event",
          "[simt][stream]") {
  const FreshDevice device;
  cudaStream_t first = nullptr, second = nullptr;
  REQUIRE(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking) == cudaSuccess);
  REQUIRE(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking) == cudaSuccess);
  int* value = device_array<int>(1);
  const bool destroyed = GENERATE(false, true);
  cudaEvent_t event = nullptr;
  REQUIRE(cudaEventCreate(&event) == cudaSuccess);
  set_kernel<<<1, 1, 0, first>>>(value, 5);
  REQUIRE(cudaEventRecord(event, first) == cudaSuccess);
  REQUIRE(cudaStreamWaitEvent(second, event) == cudaSuccess);
  set_kernel<<<1, 1, 0, first>>>(value, 7);  // for which nobody waits
  REQUIRE((destroyed ? cudaEventDestroy(event) : cudaEventRecord(event, first)) == cudaSuccess);
  add_kernel<<<1, 1, 0, second>>>(value, 1);
  REQUIRE(cudaStreamSynchronize(second) == cudaSuccess);
  int host = 0;
  REQUIRE(cudaMemcpy(&host, value, sizeof host, cudaMemcpyDeviceToHost) == cudaSuccess);
  REQUIRE(host == 6);
}

TEST_CASE("events measure time once they have happened", "[simt][stream]") {
  const FreshDevice device;
  cudaEvent_t start = nullptr, stop = nullptr;
  REQUIRE(cudaEventCreate(&start) == cudaSuccess);
  REQUIRE(cudaEventCreate(&stop) == cudaSuccess);
  float milliseconds = -1.0f;
  REQUIRE(cudaEventElapsedTime(&milliseconds, start, stop) == cudaErrorInvalidResourceHandle);
  int* value = device_array<int>(1);
  REQUIRE(cudaEventRecord(start) == cudaSuccess);
  set_kernel<<<1, 1>>>(value, 5);
  REQUIRE(cudaEventRecord(stop) == cudaSuccess);
  REQUIRE(cudaEventElapsedTime(&milliseconds, start, stop) == cudaErrorNotReady);
  REQUIRE(cudaEventSynchronize(stop) == cudaSuccess);
  REQUIRE(cudaEventElapsedTime(&milliseconds, start, stop) == cudaSuccess);
  REQUIRE(milliseconds >= 0.0f);
  REQUIRE(cudaEventDestroy(start) == cudaSuccess);
  REQUIRE(cudaEventRecord(start) == cudaErrorInvalidResourceHandle);
}
