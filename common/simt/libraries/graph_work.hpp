#pragma once
/// @file
/// What a node of a graph does, from what a program says of it.

#include <cstddef>
#include <functional>

#include "simt/runtime/context.hpp"
#include "simt/shim/cuda_runtime_api.h"
#include "simt/shim/simt_graph.h"

namespace simt {

/// Sets `work`, or notes and returns an error. To be called while what it was made of is there.
using NodeWork = std::function<cudaError_t(Context& context, std::function<void()>& work)>;

NodeWork work_of(const cudaKernelNodeParams* kernel);
NodeWork work_of(const cudaMemcpy3DParms* copy);
NodeWork work_of(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind);
NodeWork work_of(const cudaMemsetParams* set);
NodeWork work_of(const cudaHostNodeParams* host);

}  // namespace simt
