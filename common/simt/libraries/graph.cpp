#include "simt/libraries/graph.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <set>
#include <utility>

namespace {

using simt::Context;
using simt::device_memory;
using Work = std::function<void()>;
using SharedWork = std::shared_ptr<const Work>;
using Step = SimtGraphExec::Step;
using Nodes = std::vector<SimtGraphNode*>;

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

cudaError_t copy_work(Context& context, Work& work, void* to, const void* from, std::size_t bytes,
                      cudaMemcpyKind kind) {
  return record_work(context, work,
                     [&](cudaStream_t stream) { return cudaMemcpyAsync(to, from, bytes, kind, stream); });
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

/// What a kernel sets for a conditional node.
struct Condition {
  unsigned value = 0, at_launch = 0;
};
Condition& condition_of(cudaGraphConditionalHandle handle) { return *reinterpret_cast<Condition*>(handle); }

/// The nodes, each behind those that it comes after. Of several that may be next, the first that was added,
/// or in reverse order the last. Null in place of a node: there is a circle.
Nodes in_order(const SimtGraph& graph, simt::Order order) {
  Nodes rest, result;
  for (const auto& node : graph.nodes) rest.push_back(node.get());
  if (order == simt::Order::reverse) std::reverse(rest.begin(), rest.end());
  std::set<const SimtGraphNode*> done;
  while (!rest.empty()) {
    const auto next = std::find_if(rest.begin(), rest.end(), [&](const SimtGraphNode* node) {
      return std::all_of(node->before.begin(), node->before.end(),
                         [&](const SimtGraphNode* other) { return done.contains(other); });
    });
    if (next == rest.end()) return {nullptr};
    result.push_back(*next);
    done.insert(*next);
    rest.erase(next);
  }
  return result;
}

SharedWork work_of(const SimtGraphNode& node, simt::Order order);

/// The graph as it is now.
std::vector<Step> steps_of(const SimtGraph& graph, simt::Order order) {
  std::vector<Step> steps;
  for (const SimtGraphNode* const node : in_order(graph, order))
    if (node != nullptr) steps.push_back({node, node->type, work_of(*node, order)});
  return steps;
}

/// The same, of a graph that is launched.
std::vector<Step> launched_steps(const SimtGraph& graph, simt::Order order) {
  std::vector<Step> steps = steps_of(graph, order);
  for (const Work& first : graph.at_launch)
    steps.insert(steps.begin(), {nullptr, cudaGraphNodeTypeEmpty, std::make_shared<const Work>(first)});
  return steps;
}

void run(const std::vector<Step>& steps) {
  for (const Step& step : steps)
    if (step.work != nullptr) (*step.work)();
}

SharedWork work_of(const SimtGraphNode& node, simt::Order order) {
  if (node.bodies.empty()) return node.work;
  std::vector<std::vector<Step>> bodies;
  for (const auto& body : node.bodies) bodies.push_back(steps_of(*body, order));
  if (node.type == cudaGraphNodeTypeGraph)
    return std::make_shared<const Work>([bodies] { run(bodies.front()); });
  return std::make_shared<const Work>([bodies, condition = node.condition] {
    const unsigned& value = condition_of(condition.handle).value;
    const auto goes_on = [] { return Context::get().sticky() == cudaSuccess; };
    switch (condition.type) {
      case cudaGraphCondTypeIf:
        if (value != 0)
          run(bodies[0]);
        else if (bodies.size() > 1)
          run(bodies[1]);
        break;
      case cudaGraphCondTypeWhile:
        while (value != 0 && goes_on()) run(bodies[0]);
        break;
      case cudaGraphCondTypeSwitch:
        if (value < bodies.size()) run(bodies[value]);
        break;
    }
  });
}

void clone_into(SimtGraph& clone, const SimtGraph& graph) {
  clone.at_launch = graph.at_launch;
  for (const auto& node : graph.nodes) {
    SimtGraphNode* const copy = clone.nodes.emplace_back(std::make_unique<SimtGraphNode>()).get();
    clone.clones[node.get()] = copy;
    copy->graph = &clone;
    copy->type = node->type;
    copy->work = node->work;
    copy->condition = node->condition;
    copy->allocates = node->allocates;
    for (const auto& body : node->bodies) {
      copy->bodies.push_back(std::make_unique<SimtGraph>());
      copy->body_handles.push_back(copy->bodies.back().get());
      clone_into(*copy->bodies.back(), *body);
    }
  }
  for (const auto& node : graph.nodes)
    for (const SimtGraphNode* const before : node->before)
      clone.clones[node.get()]->before.push_back(clone.clones[before]);
}

/// Lists nodes as CUDA does: how many there are, and as many of them as there is room for.
cudaError_t list(const Nodes& nodes, cudaGraphNode_t* out, std::size_t* count) {
  if (count == nullptr) return cudaErrorInvalidValue;
  if (out != nullptr) {
    const std::size_t room = std::exchange(*count, std::min(*count, nodes.size()));
    std::copy_n(nodes.begin(), *count, out);
    std::fill_n(out + *count, room - *count, nullptr);
  } else {
    *count = nodes.size();
  }
  return cudaSuccess;
}

Nodes as_list(const cudaGraphNode_t* nodes, std::size_t count) {
  return nodes == nullptr ? Nodes{} : Nodes(nodes, nodes + count);
}

/// A node, once it is known what it does.
cudaError_t finish(cudaError_t error, cudaGraphNode_t* node, cudaGraph_t graph, cudaGraphNodeType type,
                   const cudaGraphNode_t* before, std::size_t count, Work work) {
  if (error != cudaSuccess) return error;
  if (node == nullptr || graph == nullptr) return cudaErrorInvalidValue;
  *node = simt::add_node(*graph, type, as_list(before, count), std::move(work));
  return cudaSuccess;
}

cudaError_t replace(Context& context, cudaError_t error, cudaGraphExec_t exec, cudaGraphNode_t node,
                    cudaGraphNodeType type, Work work) {
  if (error != cudaSuccess) return error;
  for (Step& step : exec->steps) {
    if (step.of != node) continue;
    if (step.type != type) return context.fail(cudaErrorInvalidValue);
    step.work = std::make_shared<const Work>(std::move(work));
    return cudaSuccess;
  }
  return context.fail(cudaErrorInvalidValue);
}

cudaError_t replace(Context& context, cudaError_t error, cudaGraphNode_t node, cudaGraphNodeType type,
                    Work work) {
  if (error != cudaSuccess) return error;
  if (node == nullptr || node->type != type) return context.fail(cudaErrorInvalidValue);
  node->work = std::make_shared<const Work>(std::move(work));
  return cudaSuccess;
}

}  // namespace

SimtGraphNode* simt::add_node(SimtGraph& graph, cudaGraphNodeType type, Nodes before, Work work) {
  SimtGraphNode* const node = graph.nodes.emplace_back(std::make_unique<SimtGraphNode>()).get();
  node->graph = &graph;
  node->type = type;
  node->before = std::move(before);
  if (work) node->work = std::make_shared<const Work>(std::move(work));
  return node;
}

cudaError_t simt::add_allocation(SimtGraphNode** node, SimtGraph& graph, Nodes before, std::size_t bytes,
                                 void** pointer) {
  const CallStack caller = CallStack::here();
  void* const memory = bytes == 0 ? nullptr : device_memory().reserve(bytes, caller);
  if (memory == nullptr) return bytes == 0 ? cudaErrorInvalidValue : cudaErrorMemoryAllocation;
  *pointer = memory;
  const std::shared_ptr<void> holder(memory, [](void* at) { device_memory().unreserve(at); });
  *node = add_node(graph, cudaGraphNodeTypeMemAlloc, std::move(before), [holder, caller] {
    if (device_memory().take_back(holder.get())) return;
    Context::get().misuse(
        cudaErrorInvalidValue, "bad_graph",
        "a graph is launched whose memory of the launch before is still allocated. Free it by "
        "a node of the graph or by cudaFreeAsync(), or instantiate the graph with "
        "cudaGraphInstantiateFlagAutoFreeOnLaunch.",
        {}, &caller);
  });
  (*node)->allocates = memory;
  return cudaSuccess;
}

SimtGraphNode* simt::add_release(SimtGraph& graph, Nodes before, void* pointer) {
  return add_node(graph, cudaGraphNodeTypeMemFree, std::move(before), [pointer, caller = CallStack::here()] {
    if (device_memory().release(pointer)) return;
    Context::get().misuse(cudaErrorInvalidValue, "bad_free",
                          "a graph frees memory that is not allocated when it is launched.", {}, &caller);
  });
}

cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* before,
                             std::size_t count, cudaGraphNodeParams* of) {
  switch (of->type) {
    case cudaGraphNodeTypeKernel:
      return cudaGraphAddKernelNode(node, graph, before, count, &of->kernel);
    case cudaGraphNodeTypeMemcpy:
      return cudaGraphAddMemcpyNode(node, graph, before, count, &of->memcpy.copyParams);
    case cudaGraphNodeTypeMemset:
      return cudaGraphAddMemsetNode(node, graph, before, count, &of->memset);
    case cudaGraphNodeTypeHost:
      return cudaGraphAddHostNode(node, graph, before, count, &of->host);
    case cudaGraphNodeTypeGraph:
      return cudaGraphAddChildGraphNode(node, graph, before, count, of->graph.graph);
    case cudaGraphNodeTypeEmpty:
      return cudaGraphAddEmptyNode(node, graph, before, count);
    case cudaGraphNodeTypeWaitEvent:
      return cudaGraphAddEventWaitNode(node, graph, before, count, of->eventWait.event);
    case cudaGraphNodeTypeEventRecord:
      return cudaGraphAddEventRecordNode(node, graph, before, count, of->eventRecord.event);
    case cudaGraphNodeTypeMemAlloc:
      return cudaGraphAddMemAllocNode(node, graph, before, count, &of->alloc);
    case cudaGraphNodeTypeMemFree:
      return cudaGraphAddMemFreeNode(node, graph, before, count, of->free.dptr);
    case cudaGraphNodeTypeConditional:
      return simt_graph_add_conditional(node, graph, before, count, &of->conditional);
  }
  return Context::get().fail(cudaErrorInvalidValue);
}

extern "C" {

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned flags) {
  SIMT_API_ENTRY();
  if (graph == nullptr || flags != 0) return context.fail(cudaErrorInvalidValue);
  *graph = new SimtGraph;
  return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  SIMT_API_ENTRY();
  if (graph == nullptr) return context.fail(cudaErrorInvalidValue);
  delete graph;
  return cudaSuccess;
}

cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t graph) {
  SIMT_API_ENTRY();
  if (clone == nullptr || graph == nullptr) return context.fail(cudaErrorInvalidValue);
  *clone = new SimtGraph;
  clone_into(**clone, *graph);
  return cudaSuccess;
}

cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* node, cudaGraphNode_t original, cudaGraph_t clone) {
  SIMT_API_ENTRY();
  const auto found = clone->clones.find(original);
  if (found == clone->clones.end()) return context.fail(cudaErrorInvalidValue);
  *node = found->second;
  return cudaSuccess;
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
  SIMT_API_ENTRY();
  Nodes all;
  for (const auto& node : graph->nodes) all.push_back(node.get());
  return context.fail(list(all, nodes, count));
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
  SIMT_API_ENTRY();
  Nodes roots;
  for (const auto& node : graph->nodes)
    if (node->before.empty()) roots.push_back(node.get());
  return context.fail(list(roots, nodes, count));
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  SIMT_API_ENTRY();
  if (node == nullptr || type == nullptr) return context.fail(cudaErrorInvalidValue);
  *type = node->type;
  return cudaSuccess;
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                     const cudaGraphNode_t* to, std::size_t count) {
  SIMT_API_ENTRY();
  for (std::size_t i = 0; i < count; ++i) {
    if (from[i]->graph != graph || to[i]->graph != graph) return context.fail(cudaErrorInvalidValue);
    to[i]->before.push_back(from[i]);
  }
  return cudaSuccess;
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* before,
                                  std::size_t count) {
  SIMT_API_ENTRY();
  return context.fail(finish(cudaSuccess, node, graph, cudaGraphNodeTypeEmpty, before, count, {}));
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* before,
                                   std::size_t count, const cudaKernelNodeParams* parameters) {
  SIMT_API_ENTRY();
  Work work;
  const cudaError_t error = kernel_work(context, work, parameters);
  return finish(error, node, graph, cudaGraphNodeTypeKernel, before, count, std::move(work));
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* before,
                                   std::size_t count, const cudaMemcpy3DParms* parameters) {
  SIMT_API_ENTRY();
  Work work;
  const cudaError_t error =
      record_work(context, work, [&](cudaStream_t stream) { return cudaMemcpy3DAsync(parameters, stream); });
  return finish(error, node, graph, cudaGraphNodeTypeMemcpy, before, count, std::move(work));
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* before,
                                     std::size_t count, void* to, const void* from, std::size_t bytes,
                                     cudaMemcpyKind kind) {
  SIMT_API_ENTRY();
  Work work;
  const cudaError_t error = copy_work(context, work, to, from, bytes, kind);
  return finish(error, node, graph, cudaGraphNodeTypeMemcpy, before, count, std::move(work));
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* before,
                                   std::size_t count, const cudaMemsetParams* parameters) {
  SIMT_API_ENTRY();
  Work work;
  const cudaError_t error = set_work(context, work, parameters);
  return finish(error, node, graph, cudaGraphNodeTypeMemset, before, count, std::move(work));
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* before,
                                 std::size_t count, const cudaHostNodeParams* parameters) {
  SIMT_API_ENTRY();
  Work work;
  const cudaError_t error = host_work(context, work, parameters);
  return finish(error, node, graph, cudaGraphNodeTypeHost, before, count, std::move(work));
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                       const cudaGraphNode_t* before, std::size_t count, cudaGraph_t child) {
  SIMT_API_ENTRY();
  if (child == nullptr) return context.fail(cudaErrorInvalidValue);
  const cudaError_t error = finish(cudaSuccess, node, graph, cudaGraphNodeTypeGraph, before, count, {});
  if (error != cudaSuccess) return context.fail(error);
  (*node)->bodies.push_back(std::make_unique<SimtGraph>());
  clone_into(*(*node)->bodies.back(), *child);
  return cudaSuccess;
}

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                        const cudaGraphNode_t* before, std::size_t count, cudaEvent_t event) {
  SIMT_API_ENTRY();
  if (!context.is_event(event)) return context.fail(cudaErrorInvalidResourceHandle);
  const auto record = [&context, event] {
    if (!context.is_event(event)) return;
    const cudaStream_t stream =
        context.create_stream(false);  // one of its own, which has nothing to wait for
    context.record(event, stream);
    context.destroy_stream(stream);
  };
  return context.fail(finish(cudaSuccess, node, graph, cudaGraphNodeTypeEventRecord, before, count, record));
}

cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* before,
                                      std::size_t count, cudaEvent_t event) {
  SIMT_API_ENTRY();
  if (!context.is_event(event)) return context.fail(cudaErrorInvalidResourceHandle);
  const auto wait = [&context, event] {
    if (context.is_event(event)) context.run_until(event);
  };
  return context.fail(finish(cudaSuccess, node, graph, cudaGraphNodeTypeWaitEvent, before, count, wait));
}

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* before,
                                     std::size_t count, cudaMemAllocNodeParams* parameters) {
  SIMT_API_ENTRY();
  if (node == nullptr || graph == nullptr || parameters == nullptr)
    return context.fail(cudaErrorInvalidValue);
  return context.fail(
      simt::add_allocation(node, *graph, as_list(before, count), parameters->bytesize, &parameters->dptr));
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* before,
                                    std::size_t count, void* pointer) {
  SIMT_API_ENTRY();
  if (node == nullptr || graph == nullptr || pointer == nullptr) return context.fail(cudaErrorInvalidValue);
  *node = simt::add_release(*graph, as_list(before, count), pointer);
  return cudaSuccess;
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams* parameters) {
  SIMT_API_ENTRY();
  Work work;
  const cudaError_t error = kernel_work(context, work, parameters);
  return replace(context, error, node, cudaGraphNodeTypeKernel, std::move(work));
}

cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* to, const void* from,
                                           std::size_t bytes, cudaMemcpyKind kind) {
  SIMT_API_ENTRY();
  Work work;
  const cudaError_t error = copy_work(context, work, to, from, bytes, kind);
  return replace(context, error, node, cudaGraphNodeTypeMemcpy, std::move(work));
}

cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams* parameters) {
  SIMT_API_ENTRY();
  Work work;
  const cudaError_t error = set_work(context, work, parameters);
  return replace(context, error, node, cudaGraphNodeTypeMemset, std::move(work));
}

cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams* parameters) {
  SIMT_API_ENTRY();
  Work work;
  const cudaError_t error = host_work(context, work, parameters);
  return replace(context, error, node, cudaGraphNodeTypeHost, std::move(work));
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph,
                                          unsigned long long flags) {
  SIMT_API_ENTRY();
  if (exec == nullptr || graph == nullptr) return context.fail(cudaErrorInvalidValue);
  const Nodes order = in_order(*graph, context.settings.order);
  if (!order.empty() && order.front() == nullptr) return context.fail(cudaErrorInvalidValue);
  *exec = new SimtGraphExec{.steps = launched_steps(*graph, context.settings.order)};
  if ((flags & cudaGraphInstantiateFlagAutoFreeOnLaunch) != 0)
    for (const SimtGraphNode* const node : order)
      if (node->allocates != nullptr) (*exec)->freed_at_launch.push_back(node->allocates);
  return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  SIMT_API_ENTRY();
  if (exec == nullptr) return context.fail(cudaErrorInvalidValue);
  delete exec;  // launches that are queued have the steps
  return cudaSuccess;
}

cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream) {
  SIMT_API_ENTRY();
  return context.fail(exec != nullptr && context.is_stream(stream) ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  SIMT_API_ENTRY();
  if (exec == nullptr || !context.is_stream(stream)) return context.fail(cudaErrorInvalidValue);
  context.enqueue(stream, SimtKind::other, [steps = exec->steps, freed = exec->freed_at_launch] {
    for (void* const memory : freed) device_memory().release(memory);
    run(steps);
  });
  return cudaSuccess;
}

cudaError_t simt_graph_exec_update(cudaGraphExec_t exec, cudaGraph_t graph,
                                   cudaGraphExecUpdateResultInfo* result) {
  SIMT_API_ENTRY();
  if (exec == nullptr || graph == nullptr) return context.fail(cudaErrorInvalidValue);
  const std::vector<Step> steps = launched_steps(*graph, context.settings.order);
  cudaGraphExecUpdateResultInfo outcome{};
  if (steps.size() != exec->steps.size()) outcome.result = cudaGraphExecUpdateErrorTopologyChanged;
  for (std::size_t i = 0; i < steps.size() && outcome.result == cudaGraphExecUpdateSuccess; ++i)
    if (steps[i].type != exec->steps[i].type)
      outcome = {cudaGraphExecUpdateErrorNodeTypeChanged, const_cast<cudaGraphNode_t>(steps[i].of), nullptr};
  if (result != nullptr) *result = outcome;
  if (outcome.result != cudaGraphExecUpdateSuccess) return context.fail(cudaErrorGraphExecUpdateFailure);
  for (std::size_t i = 0; i < steps.size(); ++i) exec->steps[i].work = steps[i].work;
  return cudaSuccess;
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* parameters) {
  SIMT_API_ENTRY();
  Work work;
  const cudaError_t error = kernel_work(context, work, parameters);
  return replace(context, error, exec, node, cudaGraphNodeTypeKernel, std::move(work));
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void* to,
                                               const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  SIMT_API_ENTRY();
  Work work;
  const cudaError_t error = copy_work(context, work, to, from, bytes, kind);
  return replace(context, error, exec, node, cudaGraphNodeTypeMemcpy, std::move(work));
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaMemsetParams* parameters) {
  SIMT_API_ENTRY();
  Work work;
  const cudaError_t error = set_work(context, work, parameters);
  return replace(context, error, exec, node, cudaGraphNodeTypeMemset, std::move(work));
}

cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                           const cudaHostNodeParams* parameters) {
  SIMT_API_ENTRY();
  Work work;
  const cudaError_t error = host_work(context, work, parameters);
  return replace(context, error, exec, node, cudaGraphNodeTypeHost, std::move(work));
}

// Memory of graphs comes from where all memory comes from.
cudaError_t cudaDeviceGetGraphMemAttribute(int device, cudaGraphMemAttributeType, void* value) {
  SIMT_API_ENTRY();
  if (device != 0) return context.fail(cudaErrorInvalidDevice);
  *static_cast<std::uint64_t*>(value) = device_memory().bytes_in_use();
  return cudaSuccess;
}
cudaError_t cudaDeviceSetGraphMemAttribute(int device, cudaGraphMemAttributeType, void*) {
  return device == 0 ? cudaSuccess : Context::get().fail(cudaErrorInvalidDevice);
}
cudaError_t cudaDeviceGraphMemTrim(int device) {
  return device == 0 ? cudaSuccess : Context::get().fail(cudaErrorInvalidDevice);
}

cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* handle, cudaGraph_t graph,
                                             unsigned value, unsigned flags) {
  SIMT_API_ENTRY();
  if (handle == nullptr || graph == nullptr) return context.fail(cudaErrorInvalidValue);
  auto* const condition = new Condition{value, value};  // for as long as the program runs
  *handle = reinterpret_cast<cudaGraphConditionalHandle>(condition);
  if (flags == cudaGraphCondAssignDefault)
    graph->at_launch.push_back([condition] { condition->value = condition->at_launch; });
  return cudaSuccess;
}

void cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned value) {
  condition_of(handle).value = value;
}

cudaError_t simt_graph_add_conditional(cudaGraphNode_t* node, cudaGraph_t graph,
                                       const cudaGraphNode_t* before, std::size_t count,
                                       cudaConditionalNodeParams* parameters) {
  SIMT_API_ENTRY();
  if (parameters->handle == 0 || parameters->size == 0) return context.fail(cudaErrorInvalidValue);
  const cudaError_t error = finish(cudaSuccess, node, graph, cudaGraphNodeTypeConditional, before, count, {});
  if (error != cudaSuccess) return context.fail(error);
  for (unsigned i = 0; i < parameters->size; ++i) {
    (*node)->bodies.push_back(std::make_unique<SimtGraph>());
    (*node)->body_handles.push_back((*node)->bodies.back().get());
  }
  parameters->phGraph_out = (*node)->body_handles.data();
  (*node)->condition = *parameters;
  return cudaSuccess;
}

}  // extern "C"
