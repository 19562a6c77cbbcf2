#include "simt/libraries/device_work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "simt/check/checker.hpp"
#include "simt/runtime/symbolize.hpp"

namespace simt {
namespace {

/// From the first byte to behind the last one.
std::size_t bytes_of(const LibraryArray& array) {
  return array.count == 0 || array.run_bytes == 0 ? 0
                                                  : (array.count - 1) * array.stride_bytes + array.run_bytes;
}

/// "A(3,2)", row and column, of a matrix, "x[7]" of a vector.
std::string element_of(const LibraryArray& array, std::size_t offset) {
  if (array.count == 1) return fmt::format("{}[{}]", array.name, offset / array.element_bytes);
  const std::size_t run = offset / array.stride_bytes;
  if (array.run_bytes == array.element_bytes) return fmt::format("{}[{}]", array.name, run);
  return fmt::format("{}({},{})", array.name, offset % array.stride_bytes / array.element_bytes, run);
}

}  // namespace

bool LibraryCall::can_touch(const LibraryArray& array, const char* verb) {
  const std::size_t bytes = bytes_of(array);
  if (bytes == 0) return true;
  Context& context = Context::get();
  const auto fails = [&](const char* kind, const std::string& what) {
    context.fail_library_call(caller_, function_, kind, fmt::format("{} {} {}", function_, verb, what));
    return false;
  };
  if (array.begin == nullptr)
    return fails("null_pointer", fmt::format("{} through a null pointer.", array.name));
  if (kernels_may_touch(array.begin, bytes)) return true;
  if (!device_memory().contains(array.begin) && !kernels_may_touch(array.begin, 1))
    return fails("host_pointer_in_kernel",
                 fmt::format("{}, which is memory of the host. It wants memory of cudaMalloc.", array.name));
  const std::optional<DeviceRange> allocation =
      device_memory().contains(array.begin) ? device_memory().range_at(array.begin) : std::nullopt;
  std::string holds = "what its pointer points to";
  if (allocation) {
    const std::string made = to_string(user_line(*allocation->caller));
    holds = fmt::format("its allocation of {} bytes{}", allocation->bytes,
                        made.empty() ? "" : " (made at " + made + ")");
  }
  return fails(
      "out_of_bounds",
      fmt::format("{} out of bounds: {} bytes from its pointer on, more than {} has there. Look at the "
                  "sizes, at the leading dimension or increment, and whether cudaMalloc was given "
                  "elements times sizeof.",
                  array.name, bytes, holds));
}

bool LibraryCall::reads(const LibraryArray& array) {
  if (!can_touch(array, "reads")) return false;
  if (!Context::get().settings.check || bytes_of(array) == 0 || !device_memory().contains(array.begin))
    return true;
  const std::optional<DeviceRange> allocation = device_memory().range_at(array.begin);
  const auto begin =
      static_cast<std::size_t>(static_cast<const std::byte*>(array.begin) - device_memory().base());
  for (std::size_t run = 0; run < array.count; ++run) {
    const std::size_t first = begin + run * array.stride_bytes;
    const auto unwritten = check::Checker::get().first_unwritten(*allocation, first, first + array.run_bytes);
    if (!unwritten) continue;
    Finding finding;
    const SourceLine line = user_line(caller_);
    finding.here.file = line.file;
    finding.here.line = line.line;
    finding.here.calls = user_calls(caller_).calls;
    finding.memory = "global";
    finding.element = element_of(array, *unwritten - begin);
    finding.what =
        fmt::format("{} reads {} in global memory, which neither the host nor a kernel has written.",
                    function_, finding.element);
    check::Checker::get().add_uninitialised(std::move(finding));
    break;
  }
  return true;
}

bool LibraryCall::writes(const LibraryArray& array) {
  if (!can_touch(array, "writes")) return false;
  if (bytes_of(array) == 0 || !device_memory().contains(array.begin)) return true;
  for (std::size_t run = 0; run < array.count; ++run)
    device_memory().note_written(static_cast<const std::byte*>(array.begin) + run * array.stride_bytes,
                                 array.run_bytes);
  return true;
}

void queue_library_work(Context& context, cudaStream_t stream, const LibraryCall& call,
                        std::function<void(LibraryCall&)> work) {
  context.enqueue(stream, SimtKind::kernel,
                  [&context, running = LibraryCall(call), work = std::move(work)]() mutable {
                    if (context.sticky() != cudaSuccess) return;
                    device_memory().open();
                    work(running);
                    device_memory().close();
                  });
}

}  // namespace simt
