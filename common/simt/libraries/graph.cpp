#include "simt/libraries/graph.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "simt/runtime/memory_pools.hpp"

namespace simt {
namespace {

using Work = std::function<void()>;
using SharedWork = std::shared_ptr<const Work>;
using Step = SimtGraphExec::Step;
using Nodes = std::vector<SimtGraphNode*>;

SharedWork work_of(const SimtGraphNode& node, Order order);

/// The graph as it is now.
std::vector<Step> steps_of(const SimtGraph& graph, Order order) {
  std::vector<Step> steps;
  for (const SimtGraphNode* const node : in_order(graph, order))
    if (node != nullptr)
      steps.push_back({node, node->type, work_of(*node, order), {node->before.begin(), node->before.end()}});
  return steps;
}

SharedWork work_of(const SimtGraphNode& node, Order order) {
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

}  // namespace

Nodes in_order(const SimtGraph& graph, Order order) {
  Nodes rest, result;
  for (const auto& node : graph.nodes) rest.push_back(node.get());
  if (order == Order::reverse) std::reverse(rest.begin(), rest.end());
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

std::vector<Step> launched_steps(const SimtGraph& graph, Order order) {
  std::vector<Step> steps = steps_of(graph, order);
  for (const Work& first : graph.at_launch)
    steps.insert(steps.begin(), {nullptr, cudaGraphNodeTypeEmpty, std::make_shared<const Work>(first)});
  return steps;
}

void run(const std::vector<Step>& steps) {
  Context& context = Context::get();
  StreamOrder whole = context.running();
  const StreamOrder before_all = whole;
  std::map<const SimtGraphNode*, VectorClock> done;
  for (const Step& step : steps) {
    StreamOrder order = before_all;
    for (const SimtGraphNode* const before : step.before) order.nodes.join(done[before]);
    order.node = context.new_serial();
    order.nodes.reach(order.node, order.number);
    context.set_running(order);
    if (step.work != nullptr) (*step.work)();
    done[step.of] = context.running().nodes;  // with those of a graph that the node is
    whole.nodes.join(done[step.of]);
  }
  context.set_running(whole);
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

SimtGraphNode* add_node(SimtGraph& graph, cudaGraphNodeType type, Nodes before, Work work) {
  SimtGraphNode* const node = graph.nodes.emplace_back(std::make_unique<SimtGraphNode>()).get();
  node->graph = &graph;
  node->type = type;
  node->before = std::move(before);
  if (work) node->work = std::make_shared<const Work>(std::move(work));
  return node;
}

cudaError_t add_allocation(SimtGraphNode** node, SimtGraph& graph, Nodes before, std::size_t bytes,
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

SimtGraphNode* add_release(SimtGraph& graph, Nodes before, void* pointer) {
  return add_node(graph, cudaGraphNodeTypeMemFree, std::move(before), [pointer, caller = CallStack::here()] {
    if (device_memory().release(pointer)) return memory_pools().give_back(pointer);
    Context::get().misuse(cudaErrorInvalidValue, "bad_free",
                          "a graph frees memory that is not allocated when it is launched.", {}, &caller);
  });
}

}  // namespace simt
