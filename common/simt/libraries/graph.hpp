#pragma once
/// @file
/// Graphs of operations. A launched graph is one operation of its stream: its nodes run one after the other,
/// in an order in which each comes after those that it depends on.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "simt/runtime/context.hpp"
#include "simt/shim/cuda_runtime_api.h"
#include "simt/shim/simt_graph.h"

struct SimtGraphNode {
  SIMT_RUNTIME_OBJECT

  SimtGraph* graph = nullptr;
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  std::vector<SimtGraphNode*> before;
  std::shared_ptr<const std::function<void()>> work{};
  // Of conditional nodes and of those that are a graph.
  std::vector<std::unique_ptr<SimtGraph>> bodies{};
  std::vector<SimtGraph*> body_handles{};  ///< as a program gets them
  cudaConditionalNodeParams condition{};
  void* allocates = nullptr;
};

struct SimtGraph {
  SIMT_RUNTIME_OBJECT

  std::vector<std::unique_ptr<SimtGraphNode>> nodes{};
  std::vector<std::function<void()>> at_launch{};           ///< what is done before all of them
  std::map<const SimtGraphNode*, SimtGraphNode*> clones{};  ///< of a clone: by original
};

/// A graph as it was when it was instantiated.
struct SimtGraphExec {
  SIMT_RUNTIME_OBJECT

  struct Step {
    const SimtGraphNode* of;  ///< which may be gone: a name for it
    cudaGraphNodeType type;
    std::shared_ptr<const std::function<void()>> work;
    std::vector<const SimtGraphNode*> before{};
  };
  std::vector<Step> steps{};
  std::vector<void*> freed_at_launch{};
  std::optional<SimtMoment> launched{};  ///< last: the next launch waits for it, whatever its stream
};

namespace simt {

/// What a kernel sets for a conditional node.
struct Condition {
  SIMT_RUNTIME_OBJECT

  unsigned value = 0, at_launch = 0;
};
inline Condition& condition_of(cudaGraphConditionalHandle handle) {
  return *reinterpret_cast<Condition*>(handle);
}

/// @brief The nodes, each behind those that it comes after. Of several that may be next, the first that was
/// added, or in reverse order the last. Null in place of a node: there is a circle.
std::vector<SimtGraphNode*> in_order(const SimtGraph& graph, Order order);

/// @brief What a launch of the graph does, as the graph is now.
std::vector<SimtGraphExec::Step> launched_steps(const SimtGraph& graph, Order order);
void run(const std::vector<SimtGraphExec::Step>& steps);

void clone_into(SimtGraph& clone, const SimtGraph& graph);

/// @brief Adds a node that runs `work`.
SimtGraphNode* add_node(SimtGraph& graph, cudaGraphNodeType type, std::vector<SimtGraphNode*> before,
                        std::function<void()> work);

/// @brief Adds nodes for memory that keeps its address from launch to launch.
cudaError_t add_allocation(SimtGraphNode** node, SimtGraph& graph, std::vector<SimtGraphNode*> before,
                           std::size_t bytes, void** pointer);
SimtGraphNode* add_release(SimtGraph& graph, std::vector<SimtGraphNode*> before, void* pointer);

}  // namespace simt
