// Streams, events and waiting.

#include "simt/runtime/block.hpp"
#include "simt/runtime/context.hpp"

namespace {

using simt::Context;

cudaError_t after_waiting(Context& context) { return context.sticky(); }

/// Host code of the program's, in its turn in a stream. CUDA calls it from a thread of its own, where nobody
/// catches what it throws.
template <class Function>
void call_host(Context& context, Function function) noexcept {
  context.host_first.let_host_look();
  const simt::ApiMutex::HostFunction host_function;
  function();
}

}  // namespace

extern "C" {

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  if (simt::BlockRunner::current() != nullptr) {  // what a kernel launches runs in the order of its launches
    *stream = cudaStreamFireAndForget;
    return flags == cudaStreamNonBlocking ? cudaSuccess : cudaErrorInvalidValue;
  }
  SIMT_API_ENTRY();
  if (stream == nullptr || flags > cudaStreamNonBlocking) return context.fail(cudaErrorInvalidValue);
  *stream = context.create_stream(flags != cudaStreamNonBlocking);
  return cudaSuccess;
}

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int) {
  return cudaStreamCreateWithFlags(stream, flags);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  if (simt::BlockRunner::current() != nullptr) return cudaSuccess;
  SIMT_API_ENTRY();
  if (stream == nullptr || !context.is_stream(stream)) return context.fail(cudaErrorInvalidResourceHandle);
  context.destroy_stream(stream);
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  SIMT_API_ENTRY();
  if (!context.is_stream(stream)) return context.fail(cudaErrorInvalidResourceHandle);
  const bool captured = context.capture_of(stream) != nullptr;
  if (const cudaError_t error = context.in_capture(cudaErrorStreamCaptureUnsupported, captured);
      error != cudaSuccess)
    return context.fail(error);
  context.run_stream(stream);
  return after_waiting(context);
}

// Asking often enough is waiting: the simulated device makes progress only while the host waits for it. That
// it is not ready is no error that is kept.
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  SIMT_API_ENTRY();
  // What cannot be asked cannot be waited for either.
  if (!context.is_stream(stream) || !context.captures.empty()) return cudaStreamSynchronize(stream);
  return context.is_ready(stream) ? after_waiting(context) : cudaErrorNotReady;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  SIMT_API_ENTRY();
  if (!context.is_event(event)) return context.fail(cudaErrorInvalidResourceHandle);
  if (const cudaError_t error = context.refusal_of(stream); error != cudaSuccess) return context.fail(error);
  if (event->capture != nullptr) {
    event->capture->join(stream, event);
    return cudaSuccess;
  }
  if (!event->recorded) return cudaSuccess;
  // Not the event itself: it may be recorded again or destroyed before the stream gets there.
  context.enqueue(
      stream, SimtKind::order, [] {}, event->when);
  return cudaSuccess;
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  SIMT_API_ENTRY();
  if (!context.is_stream(stream)) return context.fail(cudaErrorInvalidResourceHandle);
  const bool is_default = stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
  *flags = is_default || stream->waits_for_default ? cudaStreamDefault : cudaStreamNonBlocking;
  return cudaSuccess;
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  SIMT_API_ENTRY();
  if (!context.is_stream(stream)) return context.fail(cudaErrorInvalidResourceHandle);
  if (priority == nullptr) return context.fail(cudaErrorInvalidValue);
  *priority = 0;
  return cudaSuccess;
}

// A hint: managed memory has one place here.
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void*, std::size_t, unsigned) {
  SIMT_API_ENTRY();
  return context.fail(context.is_stream(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data,
                                  unsigned flags) {
  SIMT_API_ENTRY();
  if (callback == nullptr || flags != 0) return context.fail(cudaErrorInvalidValue);
  if (const cudaError_t error = context.refusal_of(stream); error != cudaSuccess) return context.fail(error);
  context.let_host_watch();
  context.enqueue(stream, SimtKind::host, [&context, stream, callback, data] {
    call_host(context, [&, status = context.sticky()] { callback(stream, status, data); });
  });
  return cudaSuccess;
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  SIMT_API_ENTRY();
  if (function == nullptr) return context.fail(cudaErrorInvalidValue);
  if (const cudaError_t error = context.refusal_of(stream); error != cudaSuccess) return context.fail(error);
  context.let_host_watch();
  context.enqueue(stream, SimtKind::host, [&context, function, data] {
    if (context.sticky() == cudaSuccess) call_host(context, [&] { function(data); });  // as on a GPU
  });
  return cudaSuccess;
}

// Priorities are accepted and change nothing.
cudaError_t cudaDeviceGetStreamPriorityRange(int* lowest, int* highest) {
  if (lowest != nullptr) *lowest = 0;
  if (highest != nullptr) *highest = 0;
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  SIMT_API_ENTRY();
  if (event == nullptr) return context.fail(cudaErrorInvalidValue);
  *event = context.create_event((flags & cudaEventDisableTiming) == 0);
  return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, cudaEventDefault); }

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  SIMT_API_ENTRY();
  if (!context.is_event(event)) return context.fail(cudaErrorInvalidResourceHandle);
  context.destroy_event(event);
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  SIMT_API_ENTRY();
  if (!context.is_event(event)) return context.fail(cudaErrorInvalidResourceHandle);
  if (const cudaError_t error = context.refusal_of(stream); error != cudaSuccess) return context.fail(error);
  context.record(event, stream);
  return cudaSuccess;
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned) {
  return cudaEventRecord(event, stream);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  SIMT_API_ENTRY();
  if (!context.is_event(event)) return context.fail(cudaErrorInvalidResourceHandle);
  if (event->capture != nullptr) return context.fail(context.in_capture(cudaErrorCapturedEvent));
  context.run_until(event);
  return after_waiting(context);
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  SIMT_API_ENTRY();
  if (!context.is_event(event) || event->capture != nullptr) return cudaEventSynchronize(event);
  return context.is_ready(event) ? after_waiting(context) : cudaErrorNotReady;
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t stop) {
  SIMT_API_ENTRY();
  if (milliseconds == nullptr) return context.fail(cudaErrorInvalidValue);
  if (!context.is_event(start) || !context.is_event(stop))
    return context.fail(cudaErrorInvalidResourceHandle);
  if (!start->recorded || !stop->recorded || !start->timed || !stop->timed)
    return context.fail(cudaErrorInvalidResourceHandle);
  if (!start->done || !stop->done) return cudaErrorNotReady;
  *milliseconds = static_cast<float>((stop->seconds - start->seconds) * 1e3);
  return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize() {
  SIMT_API_ENTRY();
  if (const cudaError_t error = context.in_capture(cudaErrorStreamCaptureUnsupported); error != cudaSuccess)
    return context.fail(error);
  context.run_all();
  return after_waiting(context);
}

}  // extern "C"
