#pragma once
// What the runtime's tests share: device arrays, a clean device for each case, and its faults.

#include <cuda_runtime.h>

#include <string>
#include <vector>

#include "simt/control.hpp"
#include "support/catch.hpp"

/// Each test case starts with a fresh device and default settings, whatever the last one left behind.
struct FreshDevice {
  explicit FreshDevice(simt::Order order = simt::Order::forward) {
    simt::reset();
    simt::Settings settings;
    settings.order = order;
    simt::configure(settings);
  }
  ~FreshDevice() { simt::reset(); }
};

/// Device memory of `count` elements, filled with one value.
template <class T>
T* device_array(std::size_t count, T value = T{}) {
  T* pointer = nullptr;
  REQUIRE(cudaMalloc(&pointer, count * sizeof(T)) == cudaSuccess);
  const std::vector<T> values(count, value);
  REQUIRE(cudaMemcpy(pointer, values.data(), count * sizeof(T), cudaMemcpyHostToDevice) == cudaSuccess);
  return pointer;
}

template <class T>
std::vector<T> to_host(const T* pointer, std::size_t count) {
  std::vector<T> values(count);
  REQUIRE(cudaMemcpy(values.data(), pointer, count * sizeof(T), cudaMemcpyDeviceToHost) == cudaSuccess);
  return values;
}

/// The one fault since the last call.
inline simt::Fault only_fault() {
  const std::vector<simt::Fault> faults = simt::take_faults();
  for (const simt::Fault& fault : faults) UNSCOPED_INFO(fault.message);
  REQUIRE(faults.size() == 1);
  return faults.front();
}
