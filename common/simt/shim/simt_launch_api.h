#pragma once
// Launches without `<<<...>>>`, and the occupancy functions that take a kernel of any type.
//
// cudaLaunchKernel gets the arguments as untyped pointers; here the kernel's own type says what they point
// to, so the kernel must arrive as itself and not as a void*.

#include "cuda_runtime_api.h"
#include "simt_kernel.h"

namespace simt {

template <class Value>
struct StoredAs {
  using type = std::remove_cv_t<std::remove_reference_t<Value>>;
};

template <class... Parameters, std::size_t... Index>
void launch_pointers(void (*kernel)(Parameters...), const LaunchConfig& config, void** arguments,
                     std::index_sequence<Index...>) {
  const auto* const function = reinterpret_cast<const void*>(kernel);
  queue(simt_kernel_name(function), config, function, kernel,
        std::tuple<typename StoredAs<Parameters>::type...>{
            *static_cast<typename StoredAs<Parameters>::type*>(arguments[Index])...});
}

}  // namespace simt

template <class... Parameters>
cudaError_t cudaLaunchKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block, void** arguments,
                             std::size_t dynamic_shared_bytes = 0, cudaStream_t stream = nullptr) {
  simt::launch_pointers(kernel, simt::LaunchConfig(grid, block, dynamic_shared_bytes, stream), arguments,
                        std::index_sequence_for<Parameters...>());
  return cudaPeekAtLastError();
}

/// Not simulated: the type of the kernel is lost, and with it the sizes of its arguments.
__attribute__((error("the simulator's cudaLaunchKernel needs the kernel itself, without a cast to void*")))
cudaError_t
cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                 std::size_t dynamic_shared_bytes = 0, cudaStream_t stream = nullptr);

/// All blocks run at the same time, and may wait for each other by grid.sync().
template <class... Parameters>
cudaError_t cudaLaunchCooperativeKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block,
                                        void** arguments, std::size_t dynamic_shared_bytes = 0,
                                        cudaStream_t stream = nullptr) {
  simt::LaunchConfig config(grid, block, dynamic_shared_bytes, stream);
  config.cooperative = true;
  simt::launch_pointers(kernel, config, arguments, std::index_sequence_for<Parameters...>());
  return cudaPeekAtLastError();
}

/// Not simulated, as above.
__attribute__((
    error("the simulator's cudaLaunchCooperativeKernel needs the kernel itself, without a cast to void*")))
cudaError_t
cudaLaunchCooperativeKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                            std::size_t dynamic_shared_bytes = 0, cudaStream_t stream = nullptr);

struct cudaLaunchAttribute;  // clusters and their kin: none is simulated

struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  std::size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute* attrs;
  unsigned int numAttrs;
};

template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                               Arguments&&... arguments) {
  if (config->numAttrs != 0) return cudaErrorNotSupported;
  const auto* const function = reinterpret_cast<const void*>(kernel);
  simt::queue(
      simt_kernel_name(function),
      simt::LaunchConfig(config->gridDim, config->blockDim, config->dynamicSmemBytes, config->stream),
      function, kernel,
      std::tuple<typename simt::StoredAs<Parameters>::type...>{std::forward<Arguments>(arguments)...});
  return cudaPeekAtLastError();
}

template <class Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Kernel* kernel, int block_size,
                                                          std::size_t dynamic_shared_bytes) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, reinterpret_cast<const void*>(kernel),
                                                       block_size, dynamic_shared_bytes);
}

/// The largest block that keeps the most threads resident, and the blocks that then fill the device.
template <class Kernel, class SharedBytes>
cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* min_grid_size, int* block_size,
                                                           Kernel* kernel, SharedBytes shared_bytes_of,
                                                           int limit = 0) {
  int multiprocessors = 0, most_threads = 0;
  const int largest = limit <= 0 || limit > 1024 ? 1024 : limit;
  for (int size = (largest + 31) / 32 * 32; size > 0; size -= 32) {
    const int threads = size < largest ? size : largest;
    int blocks = 0;
    if (const cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
            &blocks, kernel, threads, static_cast<std::size_t>(shared_bytes_of(threads)));
        error != cudaSuccess)
      return error;
    if (blocks * threads <= most_threads) continue;
    most_threads = blocks * threads;
    *block_size = threads;
    *min_grid_size = blocks;
  }
  if (most_threads == 0) return cudaErrorInvalidValue;
  const cudaError_t error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0);
  *min_grid_size *= multiprocessors;
  return error;
}

template <class Kernel>
cudaError_t cudaOccupancyMaxPotentialBlockSize(int* min_grid_size, int* block_size, Kernel* kernel,
                                               std::size_t dynamic_shared_bytes = 0, int limit = 0) {
  return cudaOccupancyMaxPotentialBlockSizeVariableSMem(
      min_grid_size, block_size, kernel, [=](int) { return dynamic_shared_bytes; }, limit);
}
