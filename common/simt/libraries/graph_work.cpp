#include "simt/libraries/graph_work.hpp"

#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

namespace simt {
namespace {

using Work = std::function<void()>;

/// Gathers what is queued, as the work of one node.
class Recorder final : public SimtCapture {
 public:
  void add(cudaStream_t, SimtKind, Work run) override { operations.push_back(std::move(run)); }
  void record(cudaEvent_t, cudaStream_t) override {}
  void join(cudaStream_t, cudaEvent_t) override {}
  cudaError_t allocate(void**, std::size_t, cudaStream_t) override { return cudaErrorNotSupported; }
  cudaError_t release(void*, cudaStream_t) override { return cudaErrorNotSupported; }

  std::vector<Work> operations;
};

/// What `calls` queues in the stream that it gets.
template <class Calls>
cudaError_t record_work(Context& context, Work& work, const Calls& calls) {
  Recorder recorder;
  const cudaStream_t stream = context.create_stream(false);
  stream->capture = &recorder;
  const cudaError_t error = calls(stream);
  stream->capture = nullptr;
  context.destroy_stream(stream);
  if (error != cudaSuccess) return error;
  work = [operations = std::move(recorder.operations)] {
    for (const Work& operation : operations) operation();
  };
  return cudaSuccess;
}

cudaError_t kernel_work(Context& context, Work& work, const cudaKernelNodeParams* kernel) {
  if (kernel == nullptr || kernel->func.function == nullptr)
    return context.fail(cudaErrorInvalidDeviceFunction);
  if (kernel->kernelParams == nullptr && kernel->extra != nullptr) return context.fail(cudaErrorNotSupported);
  return record_work(context, work, [&](cudaStream_t stream) {
    const cudaError_t before = context.take_error();
    kernel->func.launch(*kernel, stream);
    const cudaError_t error = context.peek_error();  // of a launch that is refused
    return error != cudaSuccess ? error : (context.fail(before), cudaSuccess);
  });
}

cudaError_t set_work(Context& context, Work& work, const cudaMemsetParams* set) {
  const bool sound =
      set != nullptr && (set->elementSize == 1 || set->elementSize == 2 || set->elementSize == 4);
  if (!sound) return context.fail(cudaErrorInvalidValue);
  const std::size_t row_bytes = set->width * set->elementSize;
  const std::size_t pitch = set->height > 1 ? set->pitch : row_bytes;
  if (pitch < row_bytes) return context.fail(cudaErrorInvalidValue);
  auto row = std::make_shared<std::vector<std::byte>>(row_bytes);
  for (std::size_t i = 0; i < set->width; ++i)
    std::memcpy(row->data() + i * set->elementSize, &set->value, set->elementSize);
  Work copies;
  const cudaError_t error = record_work(context, copies, [&](cudaStream_t stream) {
    cudaError_t first = cudaSuccess;
    for (std::size_t y = 0; y < set->height && first == cudaSuccess; ++y)
      first = cudaMemcpyAsync(static_cast<std::byte*>(set->dst) + y * pitch, row->data(), row_bytes,
                              cudaMemcpyDefault, stream);
    return first;
  });
  work = [row, copies] { copies(); };
  return error;
}

cudaError_t host_work(Context& context, Work& work, const cudaHostNodeParams* host) {
  if (host == nullptr) return context.fail(cudaErrorInvalidValue);
  return record_work(context, work, [&](cudaStream_t stream) {
    return cudaLaunchHostFunc(stream, host->fn, host->userData);
  });
}

}  // namespace

NodeWork work_of(const cudaKernelNodeParams* kernel) {
  return [=](Context& context, Work& work) { return kernel_work(context, work, kernel); };
}
NodeWork work_of(const cudaMemcpy3DParms* copy) {
  return [=](Context& context, Work& work) {
    return record_work(context, work, [&](cudaStream_t stream) { return cudaMemcpy3DAsync(copy, stream); });
  };
}
NodeWork work_of(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return [=](Context& context, Work& work) {
    return record_work(context, work,
                       [&](cudaStream_t stream) { return cudaMemcpyAsync(to, from, bytes, kind, stream); });
  };
}
NodeWork work_of(const cudaMemsetParams* set) {
  return [=](Context& context, Work& work) { return set_work(context, work, set); };
}
NodeWork work_of(const cudaHostNodeParams* host) {
  return [=](Context& context, Work& work) { return host_work(context, work, host); };
}

}  // namespace simt
