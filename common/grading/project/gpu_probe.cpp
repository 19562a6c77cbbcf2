#include "grading/project/gpu_probe.hpp"

#include <dlfcn.h>

#include <array>
#include <cstddef>

namespace course::grading {
namespace {

// The functions of the driver API that are needed, declared here so that no CUDA header is.
using Init = int (*)(unsigned flags);
using GetCount = int (*)(int* count);
using GetName = int (*)(char* name, int length, int device);
using GetAttribute = int (*)(int* value, int attribute, int device);
using GetMemory = int (*)(std::size_t* bytes, int device);
using GetVersion = int (*)(int* version);
constexpr int kCapabilityMajor = 75, kCapabilityMinor = 76;  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_...

template <class Function>
Function symbol(void* library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

/// What is good to know and no reason to fail.
void describe_further(void* driver, GpuProbe& probe) {
  const auto get_memory = symbol<GetMemory>(driver, "cuDeviceTotalMem_v2");
  const auto get_version = symbol<GetVersion>(driver, "cuDriverGetVersion");
  std::size_t bytes = 0;
  int version = 0;  // 13000 for 13.0
  if (get_memory != nullptr && get_memory(&bytes, 0) == 0) probe.memory_bytes = bytes;
  if (get_version != nullptr && get_version(&version) == 0)
    probe.driver_cuda = std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

}  // namespace

GpuProbe probe_gpu() {
  GpuProbe probe;
  // Never closed: the driver leaves threads behind.
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (driver == nullptr) {
    probe.why_not = "there is no NVIDIA driver";
    return probe;
  }
  const auto init = symbol<Init>(driver, "cuInit");
  const auto get_count = symbol<GetCount>(driver, "cuDeviceGetCount");
  const auto get_name = symbol<GetName>(driver, "cuDeviceGetName");
  const auto get_attribute = symbol<GetAttribute>(driver, "cuDeviceGetAttribute");
  int count = 0, major = 0, minor = 0;
  std::array<char, 256> name{};
  if (init == nullptr || get_count == nullptr || get_name == nullptr || get_attribute == nullptr) {
    probe.why_not = "the NVIDIA driver is not complete";
  } else if (const int error = init(0); error != 0) {
    probe.why_not = "the NVIDIA driver does not start (error " + std::to_string(error) + ")";
  } else if (get_count(&count) != 0 || count == 0) {
    probe.why_not = "the NVIDIA driver sees no GPU";
  } else if (get_name(name.data(), static_cast<int>(name.size()), 0) != 0 ||
             get_attribute(&major, kCapabilityMajor, 0) != 0 ||
             get_attribute(&minor, kCapabilityMinor, 0) != 0) {
    probe.why_not = "the first GPU does not say what it is";
  } else {
    probe.answers = true;
    probe.name = name.data();
    probe.architecture = std::to_string(major) + std::to_string(minor);
    describe_further(driver, probe);
  }
  return probe;
}

}  // namespace course::grading
