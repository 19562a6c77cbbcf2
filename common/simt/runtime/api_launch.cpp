// The way of a launch from `<<<...>>>` into the queue: the checks that CUDA makes, with its error codes.

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <utility>

#include "simt/check/event.hpp"
#include "simt/runtime/block.hpp"
#include "simt/runtime/context.hpp"
#include "simt/runtime/host_touches.hpp"
#include "simt/runtime/shared_memory.hpp"
#include "simt/runtime/symbolize.hpp"
#include "simt/shim/simt_abi.h"

namespace simt {

namespace {

std::uint64_t threads_of(const unsigned (&shape)[3]) { return std::uint64_t{shape[0]} * shape[1] * shape[2]; }

using Refusal = std::optional<std::string>;

Refusal check_block(const unsigned (&block)[3]) {
  const std::uint64_t threads = threads_of(block);
  const std::string shape = fmt::format("({}, {}, {})", block[0], block[1], block[2]);
  if (threads == 0) return fmt::format("a block of {} has no threads", shape);
  for (int axis = 0; axis < 3; ++axis)
    if (block[axis] > kMaxBlockDim[axis])
      return fmt::format("blockDim.{} is {}; the limit is {}", "xyz"[axis], block[axis], kMaxBlockDim[axis]);
  if (threads > kMaxThreadsPerBlock)
    return fmt::format("a block of {} has {} threads; the limit is {}", shape, threads, kMaxThreadsPerBlock);
  return {};
}

Refusal check_grid(const unsigned (&grid)[3], std::uint32_t max_grid_x) {
  if (grid[0] == 0 || grid[1] == 0 || grid[2] == 0)
    return fmt::format(
        "a grid of ({}, {}, {}) has no blocks. Count them by what is to be written, in 64 bits and "
        "rounded up; launch nothing only where nothing is to be written",
        grid[0], grid[1], grid[2]);
  const unsigned limits[3] = {max_grid_x, kMaxGridYZ, kMaxGridYZ};
  for (int axis = 0; axis < 3; ++axis)
    if (grid[axis] > limits[axis])
      return fmt::format("gridDim.{} is {}; the limit is {}", "xyz"[axis], grid[axis], limits[axis]);
  return {};
}

/// What the kernel's module says of it.
struct KernelNeeds {
  std::size_t static_bytes, most_threads;
};

const KernelNeeds& needs_of(const SimtLaunch& launch) {
  static auto* known = new std::map<const void*, KernelNeeds>;
  const auto* const code = launch.function ? launch.function : reinterpret_cast<const void*>(launch.invoke);
  const auto [entry, is_new] = known->try_emplace(code);
  if (is_new) {
    const KernelModule& module = kernel_module(code);
    const std::string kernel = launch.function ? function_name(code) : launch.name;
    entry->second = {static_shared_bytes(module, kernel), most_threads(module, kernel)};
  }
  return entry->second;
}

Refusal check_bounds(const SimtLaunch& launch) {
  const std::uint64_t threads = threads_of(launch.block);
  const std::size_t most = needs_of(launch).most_threads;
  if (threads <= most) return {};
  return fmt::format(
      "a block has {} threads, and the kernel's __launch_bounds__ promise {} at most; launch smaller blocks, "
      "or promise more",
      threads, most);
}

/// The kernel's own name, also where the launch has a pointer to it, under a name of its own.
std::string kernel_of(const SimtLaunch& launch) {
  static auto* names = new std::map<const void*, std::string>;
  if (launch.function == nullptr || launch.by_name != 0) return launch.name;
  const auto [entry, is_new] = names->try_emplace(launch.function);
  if (is_new) entry->second = written_name(function_name(launch.function));
  return entry->second.empty() ? launch.name : entry->second;
}

/// What the program has allowed the kernel; if only a call tells which one it is, any kernel of that name.
std::size_t allowed_shared(const Context& context, const SimtLaunch& launch) {
  std::size_t most = 0;
  for (const auto& [kernel, bytes] : context.dynamic_shared_optin)
    if (launch.function != nullptr ? kernel == launch.function
                                   : base_name(function_name(kernel)) == base_name(launch.name))
      most = std::max(most, bytes);
  return most;
}

Refusal check_shared(const Context& context, const SimtLaunch& launch) {
  const std::size_t bytes = launch.dynamic_shared_bytes, static_bytes = needs_of(launch).static_bytes;
  if (bytes + static_bytes <= context.profile->shared_per_block) return {};
  const std::size_t allowed = allowed_shared(context, launch);
  if (bytes <= allowed) return {};
  if (allowed > 0)
    return fmt::format("{} bytes of dynamic shared memory; cudaFuncSetAttribute() has allowed it {}", bytes,
                       allowed);
  return fmt::format(
      "{} bytes of dynamic shared memory{}; without "
      "cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes){} the limit is {}, "
      "with it {}",
      bytes, static_bytes == 0 ? "" : fmt::format(" beside {} of __shared__ variables", static_bytes),
      kernel_of(launch).find('<') == std::string::npos ? "" : " for this instance of the template",
      context.profile->shared_per_block - static_bytes,
      context.profile->shared_per_block_optin - static_bytes);
}

/// Check mode would take what lies further behind for other code.
Refusal check_code(const Context& context, const SimtLaunch& launch) {
  const KernelModule& module = kernel_module(reinterpret_cast<const void*>(launch.invoke));
  if (!context.settings.check || module.end - module.begin <= check::kMostCodeBytes) return {};
  return fmt::format("the code around the kernel takes {} bytes, of which check mode can watch {}",
                     module.end - module.begin, check::kMostCodeBytes);
}

/// Why CUDA refuses the launch, if it does.
struct LaunchRefusal {
  cudaError_t error = cudaErrorInvalidValue;
  std::string reason, code_name{};
};

/// What a GPU's compiler refuses, whatever the launch.
std::optional<LaunchRefusal> check_variables(const Context& context, const SimtLaunch& launch) {
  const std::size_t bytes = needs_of(launch).static_bytes;
  if (bytes <= context.profile->shared_per_block) return {};
  return LaunchRefusal{
      .reason = fmt::format(
          "{} has {} bytes of __shared__ variables; a kernel may have {}. Larger tiles go into dynamic "
          "shared memory (extern __shared__).",
          kernel_of(launch), bytes, context.profile->shared_per_block),
      .code_name = "it when it compiles the kernel: uses too much shared data"};
}

std::optional<LaunchRefusal> check_launch(const Context& context, const SimtLaunch& request) {
  if (std::optional<LaunchRefusal> refusal = check_variables(context, request)) return refusal;
  Refusal refusal = check_block(request.block);
  if (!refusal) refusal = check_bounds(request);
  if (!refusal) refusal = check_grid(request.grid, context.max_grid_x());
  if (!refusal) refusal = check_shared(context, request);
  if (!refusal) refusal = check_code(context, request);
  if (refusal)
    return LaunchRefusal{
        .reason = fmt::format("the launch of {} was refused: {}.", kernel_of(request), *refusal),
        .code_name = "cudaErrorInvalidValue (older toolkits: cudaErrorInvalidConfiguration)"};
  if (request.cooperative == 0) return {};
  int resident = 0;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &resident, request.function, static_cast<int>(threads_of(request.block)), request.dynamic_shared_bytes);
  const std::uint64_t most = static_cast<std::uint64_t>(resident) * context.profile->multiprocessors;
  const std::uint64_t blocks = threads_of(request.grid);
  if (blocks <= most) return {};
  return LaunchRefusal{
      cudaErrorCooperativeLaunchTooLarge,
      fmt::format("the launch of {} has {} blocks, of which only {} fit the device at a time.",
                  kernel_of(request), blocks, most)};
}

Launch prepare_launch(const SimtLaunch& request, void* arguments) {
  Launch launch;
  launch.cooperative = request.cooperative != 0;
  launch.name = kernel_of(request);
  launch.grid = dim3(request.grid[0], request.grid[1], request.grid[2]);
  launch.block = dim3(request.block[0], request.block[1], request.block[2]);
  launch.dynamic_shared_bytes = request.dynamic_shared_bytes;
  launch.invoke = request.invoke;
  launch.arguments = arguments;
  launch.arguments_bytes = request.arguments_bytes;
  return launch;
}

}  // namespace

void Context::note_launch(const Launch& launch) {
  constexpr std::size_t kMostRecorded = 65536;  // nobody may ever ask
  if (launches.size() < kMostRecorded)
    launches.push_back({launch.name,
                        {launch.grid.x, launch.grid.y, launch.grid.z},
                        {launch.block.x, launch.block.y, launch.block.z},
                        launch.dynamic_shared_bytes});
}

std::optional<Launch> Context::accept_nested(const NestedLaunch& nested) {
  // A GPU keeps each kernel until those that it has launched have ended, and has no room for so many.
  constexpr unsigned kDeepest = 1000;
  std::optional<LaunchRefusal> refusal = check_launch(*this, nested.request);
  if (nested.depth > kDeepest)
    refusal = LaunchRefusal{cudaErrorLaunchOutOfResources,
                            fmt::format("the launch of {} was refused: it is the last of {} kernels, each "
                                        "launched by the one before. Is there an end to it?",
                                        kernel_of(nested.request), nested.depth)};
  if (!refusal) {
    Launch launch = prepare_launch(nested.request, nested.arguments.get());
    note_launch(launch);
    return launch;
  }
  misuse(refusal->error, "launch_refused", refusal->reason, refusal->code_name, &nested.caller);
  return {};
}

}  // namespace simt

extern "C" void* simt_new_arguments(std::size_t bytes, std::size_t alignment) {
  return ::operator new(bytes, std::align_val_t(alignment));
}
extern "C" void simt_delete_arguments(void* arguments, std::size_t alignment) {
  ::operator delete(arguments, std::align_val_t(alignment));
}

extern "C" void simt_launch(const SimtLaunch* request) {
  using namespace simt;
  const std::shared_ptr<void> arguments(request->arguments, request->destroy);
  require_host_code();
  Context& context = Context::get();
  const ApiLock lock(context.mutex);
  if (context.sticky() != cudaSuccess) return;
  const auto stream = static_cast<cudaStream_t>(request->stream);
  if (!context.is_stream(stream)) {
    context.misuse(cudaErrorInvalidResourceHandle, "launch_refused",
                   fmt::format("the launch of {} names a stream that does not exist.", kernel_of(*request)));
    return;
  }
  if (const cudaError_t error = context.refusal_of(stream); error != cudaSuccess) {
    context.fail(error);
    return;
  }
  if (const auto refusal = check_launch(context, *request)) {
    context.misuse(refusal->error, "launch_refused", refusal->reason, refusal->code_name);
    return;
  }
  if (context.host_first.puts_off()) {
    const WritableRange& managed = kernel_module(reinterpret_cast<const void*>(request->invoke)).managed;
    context.host_first.share(reinterpret_cast<void*>(managed.begin), managed.end - managed.begin);
  }
  Launch launch = prepare_launch(*request, arguments.get());
  if (request->of_library != 0) launch.caller = CallStack::here();
  launch.comes_last = context.host_first.puts_off();
  const auto runs = [&context, arguments](Launch prepared) {
    prepared.order = context.running();
    context.host_first.do_or_put_off([&context, arguments, prepared] { context.run_kernel(prepared); }, true);
  };
  if (context.capture_of(stream) != nullptr) {
    context.enqueue(stream, SimtKind::kernel, [&context, launch, runs] {
      context.note_launch(launch);
      runs(launch);
    });
    return;
  }
  context.note_launch(launch);
  if (context.settings.check && context.settings.goes_on_alone)
    launch.number = host_touches().watch(launch.arguments, launch.arguments_bytes, context.is_idle());
  context.enqueue(stream, SimtKind::kernel, [launch, runs] { runs(launch); });
}

extern "C" int simt_in_kernel() { return simt::BlockRunner::current() != nullptr ? 1 : 0; }

extern "C" void simt_launch_from_kernel(const SimtLaunch* request) {
  using namespace simt;
  NestedLaunch launch;
  launch.request = *request;
  launch.arguments = std::shared_ptr<void>(std::malloc(request->arguments_bytes), std::free);
  std::memcpy(launch.arguments.get(), request->arguments, request->arguments_bytes);
  launch.caller = CallStack::here();
  BlockRunner::in_kernel("a launch by a kernel").launch_nested(std::move(launch));
}
