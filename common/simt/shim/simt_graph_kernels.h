#pragma once
// How the node of a graph launches its kernel.

#include "simt_graph.h"
#include "simt_launch_api.h"

template <class... Parameters>
void simt_launch_node(const cudaKernelNodeParams& node, cudaStream_t stream) {
  simt::launch_pointers(reinterpret_cast<void (*)(Parameters...)>(const_cast<void*>(node.func.function)),
                        simt::LaunchConfig(node.gridDim, node.blockDim, node.sharedMemBytes, stream),
                        node.kernelParams, std::index_sequence_for<Parameters...>());
}
