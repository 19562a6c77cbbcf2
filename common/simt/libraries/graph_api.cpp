// The functions of CUDA graphs.

#include <algorithm>
#include <utility>

#include "simt/libraries/graph.hpp"
#include "simt/libraries/graph_work.hpp"

namespace {

using simt::Context;
using simt::device_memory;
using simt::NodeWork;
using Work = std::function<void()>;
using Step = SimtGraphExec::Step;
using Nodes = std::vector<SimtGraphNode*>;

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

// The functions of CUDA that add a node, or give it other work, in a graph or in one that was instantiated:
// `work_of(context, work)` says what it does.
cudaError_t add(cudaGraphNode_t* node, cudaGraph_t graph, cudaGraphNodeType type,
                const cudaGraphNode_t* before, std::size_t count, const NodeWork& work_of) {
  SIMT_API_ENTRY();
  Work work;
  const cudaError_t error = work_of(context, work);
  return finish(error, node, graph, type, before, count, std::move(work));
}

cudaError_t replace(cudaGraphNode_t node, cudaGraphNodeType type, const NodeWork& work_of) {
  SIMT_API_ENTRY();
  Work work;
  if (const cudaError_t error = work_of(context, work); error != cudaSuccess) return error;
  if (node == nullptr || node->type != type) return context.fail(cudaErrorInvalidValue);
  node->work = std::make_shared<const Work>(std::move(work));
  return cudaSuccess;
}

cudaError_t replace(cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraphNodeType type,
                    const NodeWork& work_of) {
  SIMT_API_ENTRY();
  Work work;
  if (const cudaError_t error = work_of(context, work); error != cudaSuccess) return error;
  const auto step = std::find_if(exec->steps.begin(), exec->steps.end(),
                                 [node](const Step& one) { return one.of == node; });
  if (step == exec->steps.end() || step->type != type) return context.fail(cudaErrorInvalidValue);
  step->work = std::make_shared<const Work>(std::move(work));
  return cudaSuccess;
}

}  // namespace

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
  simt::clone_into(**clone, *graph);
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
  return add(node, graph, cudaGraphNodeTypeKernel, before, count, simt::work_of(parameters));
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* before,
                                   std::size_t count, const cudaMemcpy3DParms* parameters) {
  return add(node, graph, cudaGraphNodeTypeMemcpy, before, count, simt::work_of(parameters));
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* before,
                                     std::size_t count, void* to, const void* from, std::size_t bytes,
                                     cudaMemcpyKind kind) {
  return add(node, graph, cudaGraphNodeTypeMemcpy, before, count, simt::work_of(to, from, bytes, kind));
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* before,
                                   std::size_t count, const cudaMemsetParams* parameters) {
  return add(node, graph, cudaGraphNodeTypeMemset, before, count, simt::work_of(parameters));
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* before,
                                 std::size_t count, const cudaHostNodeParams* parameters) {
  return add(node, graph, cudaGraphNodeTypeHost, before, count, simt::work_of(parameters));
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                       const cudaGraphNode_t* before, std::size_t count, cudaGraph_t child) {
  SIMT_API_ENTRY();
  if (child == nullptr) return context.fail(cudaErrorInvalidValue);
  const cudaError_t error = finish(cudaSuccess, node, graph, cudaGraphNodeTypeGraph, before, count, {});
  if (error != cudaSuccess) return context.fail(error);
  (*node)->bodies.push_back(std::make_unique<SimtGraph>());
  simt::clone_into(*(*node)->bodies.back(), *child);
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
  return replace(node, cudaGraphNodeTypeKernel, simt::work_of(parameters));
}

cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* to, const void* from,
                                           std::size_t bytes, cudaMemcpyKind kind) {
  return replace(node, cudaGraphNodeTypeMemcpy, simt::work_of(to, from, bytes, kind));
}

cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams* parameters) {
  return replace(node, cudaGraphNodeTypeMemset, simt::work_of(parameters));
}

cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams* parameters) {
  return replace(node, cudaGraphNodeTypeHost, simt::work_of(parameters));
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph,
                                          unsigned long long flags) {
  SIMT_API_ENTRY();
  if (exec == nullptr || graph == nullptr) return context.fail(cudaErrorInvalidValue);
  const Nodes order = simt::in_order(*graph, context.settings.order);
  if (!order.empty() && order.front() == nullptr) return context.fail(cudaErrorInvalidValue);
  *exec = new SimtGraphExec{.steps = simt::launched_steps(*graph, context.settings.order)};
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
  const auto launch = [steps = exec->steps, freed = exec->freed_at_launch] {
    for (void* const memory : freed) device_memory().release(memory);
    simt::run(steps);
  };
  exec->launched = context.enqueue(stream, SimtKind::other, launch, exec->launched);
  return cudaSuccess;
}

cudaError_t simt_graph_exec_update(cudaGraphExec_t exec, cudaGraph_t graph,
                                   cudaGraphExecUpdateResultInfo* result) {
  SIMT_API_ENTRY();
  if (exec == nullptr || graph == nullptr) return context.fail(cudaErrorInvalidValue);
  const std::vector<Step> steps = simt::launched_steps(*graph, context.settings.order);
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
  return replace(exec, node, cudaGraphNodeTypeKernel, simt::work_of(parameters));
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void* to,
                                               const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return replace(exec, node, cudaGraphNodeTypeMemcpy, simt::work_of(to, from, bytes, kind));
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaMemsetParams* parameters) {
  return replace(exec, node, cudaGraphNodeTypeMemset, simt::work_of(parameters));
}

cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                           const cudaHostNodeParams* parameters) {
  return replace(exec, node, cudaGraphNodeTypeHost, simt::work_of(parameters));
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
  auto* const condition = new simt::Condition{value, value};  // for as long as the program runs
  *handle = reinterpret_cast<cudaGraphConditionalHandle>(condition);
  if (flags == cudaGraphCondAssignDefault)
    graph->at_launch.push_back([condition] { condition->value = condition->at_launch; });
  return cudaSuccess;
}

void cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned value) {
  simt::condition_of(handle).value = value;
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
