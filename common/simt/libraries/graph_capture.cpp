// Streams that are captured into graphs.

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "simt/libraries/graph.hpp"

namespace {

using simt::Context;
using Nodes = std::vector<SimtGraphNode*>;

/// From cudaStreamBeginCapture() to cudaStreamEndCapture(): what is queued in the stream, and in those that
/// wait for an event of it, becomes nodes.
class Capture final : public SimtCapture {
 public:
  Capture(SimtGraph* into, Nodes before, cudaStream_t origin)
      : own_(into == nullptr ? std::make_unique<SimtGraph>() : nullptr),
        graph_(into != nullptr ? into : own_.get()),
        origin_(origin),
        id_(next_id_++) {
    waits_for_default = origin->waits_for_default;
    last_[origin] = std::move(before);
    origin->capture = this;
    Context::get().captures.insert(this);
  }
  ~Capture() { Context::get().captures.erase(this); }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  void add(cudaStream_t stream, SimtKind kind, std::function<void()> run) override {
    note(stream,
         simt::add_node(*graph_, static_cast<cudaGraphNodeType>(kind), last_[stream], std::move(run)));
  }
  void record(cudaEvent_t event, cudaStream_t stream) override { events_[event] = last_[stream]; }
  void join(cudaStream_t stream, cudaEvent_t event) override {
    if (!Context::get().is_stream(stream) || stream == nullptr) return;
    stream->capture = this;
    Nodes& last = last_[stream];
    for (SimtGraphNode* const node : events_[event])
      if (std::find(last.begin(), last.end(), node) == last.end()) last.push_back(node);
  }
  cudaError_t allocate(void** pointer, std::size_t bytes, cudaStream_t stream) override {
    SimtGraphNode* node = nullptr;
    const cudaError_t error = simt::add_allocation(&node, *graph_, last_[stream], bytes, pointer);
    if (error == cudaSuccess) note(stream, node);
    return error;
  }
  cudaError_t release(void* pointer, cudaStream_t stream) override {
    note(stream, simt::add_release(*graph_, last_[stream], pointer));
    return cudaSuccess;
  }

  /// Lets go of streams and events. Returns whether all work is joined with that of the first stream.
  bool end(Context& context) {
    std::set<const SimtGraphNode*> joined;
    Nodes open = last_[origin_];
    while (!open.empty()) {
      SimtGraphNode* const node = open.back();
      open.pop_back();
      if (joined.insert(node).second) open.insert(open.end(), node->before.begin(), node->before.end());
    }
    bool complete = true;
    for (const auto& [stream, nodes] : last_) {
      for (const SimtGraphNode* node : nodes) complete = complete && joined.contains(node);
      if (context.is_stream(stream)) stream->capture = nullptr;
    }
    for (const auto& [event, nodes] : events_)
      if (context.is_event(event)) event->capture = nullptr;
    return complete;
  }

  SimtGraph* graph() { return graph_; }
  /// The program's from now on, which destroys it.
  SimtGraph* hand_over() {
    (void)own_.release();
    return graph_;
  }
  cudaStream_t origin() const { return origin_; }
  unsigned long long id() const { return id_; }
  Nodes& last(cudaStream_t stream) { return last_[stream]; }

 private:
  void note(cudaStream_t stream, SimtGraphNode* node) { last_[stream] = {node}; }

  static inline unsigned long long next_id_ = 1;
  std::unique_ptr<SimtGraph> own_;  ///< one that began with the capture, and goes with one that is lost
  SimtGraph* graph_;
  cudaStream_t origin_;
  unsigned long long id_;
  std::map<cudaStream_t, Nodes> last_;  ///< what the next node of the stream comes after
  std::map<cudaEvent_t, Nodes> events_;
};

Capture* capture_of(Context& context, cudaStream_t stream) {
  return static_cast<Capture*>(context.capture_of(stream));
}

}  // namespace

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return cudaStreamBeginCaptureToGraph(stream, nullptr, nullptr, nullptr, 0, mode);
}

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                          const cudaGraphNode_t* before, const cudaGraphEdgeData*,
                                          std::size_t count, cudaStreamCaptureMode mode) {
  SIMT_API_ENTRY();
  const bool is_default = stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
  if (is_default) return context.fail(cudaErrorStreamCaptureUnsupported);
  if (!context.is_stream(stream)) return context.fail(cudaErrorInvalidResourceHandle);
  if (stream->capture != nullptr) return context.fail(cudaErrorInvalidValue);
  auto* const capture = new Capture(graph, Nodes(before, before + count), stream);  // until its end
  capture->relaxed = mode == cudaStreamCaptureModeRelaxed;
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  SIMT_API_ENTRY();
  if (!context.is_stream(stream)) return context.fail(cudaErrorInvalidResourceHandle);
  Capture* const capture = capture_of(context, stream);
  if (capture == nullptr) return context.fail(cudaErrorInvalidValue);
  if (capture->origin() != stream) return context.fail(cudaErrorStreamCaptureUnmatched);
  const bool invalid = capture->invalid, complete = capture->end(context) && !invalid;
  if (graph != nullptr) *graph = complete ? capture->hand_over() : nullptr;
  delete capture;
  return context.fail(complete  ? cudaSuccess
                      : invalid ? cudaErrorStreamCaptureInvalidated
                                : cudaErrorStreamCaptureUnjoined);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return simt_stream_capture_info(stream, status, nullptr, nullptr, nullptr, nullptr);
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  static thread_local cudaStreamCaptureMode current = cudaStreamCaptureModeGlobal;
  std::swap(*mode, current);
  return cudaSuccess;
}

cudaError_t simt_stream_capture_info(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                     unsigned long long* id, cudaGraph_t* graph,
                                     const cudaGraphNode_t** nodes, std::size_t* count) {
  SIMT_API_ENTRY();
  if (!context.is_stream(stream)) return context.fail(cudaErrorInvalidResourceHandle);
  Capture* const capture = capture_of(context, stream);
  *status = capture == nullptr ? cudaStreamCaptureStatusNone
            : capture->invalid ? cudaStreamCaptureStatusInvalidated
                               : cudaStreamCaptureStatusActive;
  if (capture == nullptr) return cudaSuccess;
  if (id != nullptr) *id = capture->id();
  if (graph != nullptr) *graph = capture->graph();
  if (nodes != nullptr) *nodes = capture->last(stream).data();
  if (count != nullptr) *count = capture->last(stream).size();
  return cudaSuccess;
}

cudaError_t simt_stream_capture_follows(cudaStream_t stream, const cudaGraphNode_t* nodes, std::size_t count,
                                        unsigned flags) {
  SIMT_API_ENTRY();
  if (!context.is_stream(stream)) return context.fail(cudaErrorInvalidResourceHandle);
  Capture* const capture = capture_of(context, stream);
  if (capture == nullptr) return context.fail(cudaErrorInvalidValue);
  Nodes& last = capture->last(stream);
  if (flags == cudaStreamSetCaptureDependencies) last.clear();
  last.insert(last.end(), nodes, nodes + count);
  return cudaSuccess;
}

}  // extern "C"
