// Graphs: explicit nodes of all kinds, capture that forks and joins, changed parameters, updates, clones,
// child graphs, memory that belongs to a graph, conditional nodes.

#include <cstdio>
#include <cstring>

constexpr int kCount = 64;

__global__ void add(float* values, float addend, int n) {
  const int i = threadIdx.x;
  if (i < n) values[i] += addend;
}

template <class T>
__global__ void sum_up(const T* a, const T* b, T* out, int n) {
  const int i = threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}

__global__ void count_down(int* rest, cudaGraphConditionalHandle goes_on) {
  --*rest;
  cudaGraphSetConditional(goes_on, *rest > 0);
}

int failures = 0;
void check(bool holds, const char* what) {
  if (!holds) printf("not so: %s\n", what), ++failures;
}
void call(cudaError_t error) { check(error == cudaSuccess, cudaGetErrorName(error)); }

void count_call(void* counter) { ++*static_cast<int*>(counter); }

cudaKernelNodeParams launch_of_add(void** arguments) {
  cudaKernelNodeParams kernel = {0};
  kernel.func = (void*)add;
  kernel.gridDim = dim3(1);
  kernel.blockDim = dim3(kCount);
  kernel.kernelParams = arguments;
  return kernel;
}

/// Sets, adds, copies back and counts; then with another addend; then a clone and a graph that has it twice.
void explicit_nodes(cudaStream_t stream) {
  float *values, host[kCount];
  call(cudaMalloc(&values, sizeof host));
  cudaGraph_t graph;
  cudaGraphNode_t set, kernel, copy, counted;
  call(cudaGraphCreate(&graph, 0));
  cudaMemsetParams memset_params;
  memset(&memset_params, 0, sizeof memset_params);
  const float one = 1;
  memset_params.dst = values;
  memcpy(&memset_params.value, &one, sizeof one);
  memset_params.elementSize = sizeof(float);
  memset_params.width = kCount;
  memset_params.height = 1;
  call(cudaGraphAddMemsetNode(&set, graph, nullptr, 0, &memset_params));
  float addend = 2;
  int n = kCount, calls = 0;
  void* arguments[] = {&values, &addend, &n};
  cudaKernelNodeParams launch = launch_of_add(arguments);
  call(cudaGraphAddKernelNode(&kernel, graph, &set, 1, &launch));
  call(cudaGraphAddMemcpyNode1D(&copy, graph, &kernel, 1, host, values, sizeof host, cudaMemcpyDeviceToHost));
  cudaHostNodeParams function = {count_call, &calls};
  call(cudaGraphAddHostNode(&counted, graph, &copy, 1, &function));

  std::size_t nodes = 0, roots = 0;
  cudaGraphNodeType type;
  call(cudaGraphGetNodes(graph, nullptr, &nodes));
  call(cudaGraphGetRootNodes(graph, nullptr, &roots));
  call(cudaGraphNodeGetType(kernel, &type));
  check(nodes == 4 && roots == 1 && type == cudaGraphNodeTypeKernel, "four nodes, one root");

  cudaGraphExec_t exec;
  call(cudaGraphInstantiate(&exec, graph, 0));
  addend = 100;  // the node has its own copy
  call(cudaGraphLaunch(exec, stream));
  call(cudaGraphLaunch(exec, stream));
  call(cudaStreamSynchronize(stream));
  check(host[kCount - 1] == 3 && calls == 2, "set, add, copy, call");
  call(cudaGraphExecKernelNodeSetParams(exec, kernel, &launch));
  call(cudaGraphLaunch(exec, stream));
  call(cudaStreamSynchronize(stream));
  check(host[0] == 101, "other arguments");
  call(cudaGraphExecDestroy(exec));

  cudaGraph_t clone, twice;
  cudaGraphNode_t cloned, first, second;
  call(cudaGraphClone(&clone, graph));
  call(cudaGraphNodeFindInClone(&cloned, kernel, clone));
  call(cudaGraphKernelNodeSetParams(cloned, &launch));
  call(cudaGraphCreate(&twice, 0));
  call(cudaGraphAddChildGraphNode(&second, twice, nullptr, 0, graph));
  call(cudaGraphAddChildGraphNode(&first, twice, nullptr, 0, clone));
#if CUDART_VERSION >= 13000
  call(cudaGraphAddDependencies(twice, &first, &second, nullptr, 1));
#else
  call(cudaGraphAddDependencies(twice, &first, &second, 1));
#endif
  call(cudaGraphInstantiate(&exec, twice, 0));
  call(cudaGraphDestroy(graph));
  call(cudaGraphDestroy(clone));
  call(cudaGraphDestroy(twice));
  call(cudaGraphLaunch(exec, stream));
  call(cudaStreamSynchronize(stream));
  check(host[5] == 3 && calls == 5, "a graph in a graph, which comes second");
  call(cudaGraphExecDestroy(exec));
  call(cudaFree(values));
}

/// Two streams work side by side between an event that forks and one that joins.
cudaGraph_t capture(cudaStream_t stream, cudaStream_t other, float* a, float* b, float* out, float* host,
                    float addend) {
  cudaEvent_t fork, join;
  cudaGraph_t graph = nullptr;
  call(cudaEventCreate(&fork));
  call(cudaEventCreate(&join));
  call(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  call(cudaMemsetAsync(a, 0, kCount * sizeof(float), stream));
  call(cudaMemsetAsync(b, 0, kCount * sizeof(float), stream));
  call(cudaEventRecord(fork, stream));
  call(cudaStreamWaitEvent(other, fork));
  add<<<1, kCount, 0, stream>>>(a, addend, kCount);
  add<<<1, kCount, 0, other>>>(b, 1, kCount);
  cudaStreamCaptureStatus status;
  call(cudaStreamIsCapturing(other, &status));
  check(status == cudaStreamCaptureStatusActive, "the other stream is captured as well");
  call(cudaEventRecord(join, other));
  call(cudaStreamWaitEvent(stream, join));
  sum_up<<<1, kCount, 0, stream>>>(a, b, out, kCount);
  call(cudaMemcpyAsync(host, out, kCount * sizeof(float), cudaMemcpyDeviceToHost, stream));
  call(cudaStreamEndCapture(stream, &graph));
  call(cudaEventDestroy(fork));
  call(cudaEventDestroy(join));
  return graph;
}

void captured_streams(cudaStream_t stream) {
  float *values, host[kCount] = {};
  cudaStream_t other;
  call(cudaStreamCreate(&other));
  call(cudaMalloc(&values, 3 * sizeof host));
  cudaGraph_t graph = capture(stream, other, values, values + kCount, values + 2 * kCount, host, 2);
  cudaGraphExec_t exec;
  call(cudaGraphInstantiate(&exec, graph, 0));
  call(cudaStreamSynchronize(stream));
  check(host[0] == 0, "nothing has run yet");
  call(cudaGraphLaunch(exec, stream));
  call(cudaStreamSynchronize(stream));
  check(host[0] == 3 && host[kCount - 1] == 3, "captured work");

  cudaGraph_t changed = capture(stream, other, values, values + kCount, values + 2 * kCount, host, 5);
  cudaGraphExecUpdateResultInfo result;
  call(cudaGraphExecUpdate(exec, changed, &result));
  call(cudaGraphLaunch(exec, stream));
  call(cudaStreamSynchronize(stream));
  check(host[7] == 6, "an update");

  cudaGraph_t empty;
  call(cudaGraphCreate(&empty, 0));
  check(cudaGraphExecUpdate(exec, empty, &result) == cudaErrorGraphExecUpdateFailure &&
            result.result == cudaGraphExecUpdateErrorTopologyChanged,
        "no update by another graph");
  cudaGetLastError();

  cudaEvent_t fork;
  call(cudaEventCreate(&fork));
  call(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  call(cudaEventRecord(fork, stream));
  call(cudaStreamWaitEvent(other, fork));
  call(cudaMemsetAsync(values, 0, sizeof host, other));
  cudaGraph_t unjoined = empty;
  check(cudaStreamEndCapture(stream, &unjoined) == cudaErrorStreamCaptureUnjoined && unjoined == nullptr,
        "the other stream was not joined");
  cudaGetLastError();
  call(cudaMemsetAsync(values, 0, sizeof host, other));  // it is a stream as before
  call(cudaEventDestroy(fork));
  for (cudaGraph_t each : {graph, changed, empty}) call(cudaGraphDestroy(each));
  call(cudaGraphExecDestroy(exec));
  call(cudaStreamDestroy(other));
  call(cudaFree(values));
}

/// What waits, or makes the default stream wait, ends a capture that is under way: nothing comes of it.
void lost_captures(cudaStream_t stream) {
  cudaStream_t other;
  cudaEvent_t event;
  float* values;
  call(cudaStreamCreate(&other));
  call(cudaEventCreate(&event));
  call(cudaMalloc(&values, sizeof(float)));
  for (int what = 0; what < 7; ++what) {
    call(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    call(cudaEventRecord(event, stream));
    void* more = nullptr;
    float value = 0;
    const cudaError_t error = what == 0   ? cudaStreamSynchronize(stream)
                              : what == 1 ? cudaStreamQuery(stream)
                              : what == 2 ? cudaDeviceSynchronize()
                              : what == 3 ? cudaStreamSynchronize(other)
                              : what == 4 ? cudaMalloc(&more, 16)
                              : what == 5 ? cudaMemcpy(&value, values, sizeof value, cudaMemcpyDeviceToHost)
                                          : cudaEventSynchronize(event);
    const cudaError_t expected = what == 5   ? cudaErrorStreamCaptureImplicit
                                 : what == 6 ? cudaErrorCapturedEvent
                                             : cudaErrorStreamCaptureUnsupported;
    check(error == expected && cudaGetLastError() == expected, "not within a capture");
    cudaStreamCaptureStatus status;
    call(cudaStreamIsCapturing(stream, &status));
    check(status == cudaStreamCaptureStatusInvalidated, "the capture is lost");
    check(cudaMemsetAsync(values, 0, sizeof value, stream) == cudaErrorStreamCaptureInvalidated,
          "as is its stream");
    cudaGraph_t graph = nullptr;
    check(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated && graph == nullptr,
          "no graph");
    cudaGetLastError();
    call(cudaMemsetAsync(values, 0, sizeof value, stream));  // it is a stream as before
  }
  call(cudaStreamSynchronize(stream));
  call(cudaFree(values));
  call(cudaEventDestroy(event));
  call(cudaStreamDestroy(other));
}

/// Memory of a graph: allocated and freed by it, or freed by a call between its launches.
void memory_nodes(cudaStream_t stream) {
  cudaGraph_t graph;
  cudaGraphNode_t allocation, zero, kernel, copy, release;
  cudaMemAllocNodeParams memory;
  memset(&memory, 0, sizeof memory);
  memory.bytesize = kCount * sizeof(float);
  memory.poolProps.allocType = cudaMemAllocationTypePinned;
  memory.poolProps.location = {cudaMemLocationTypeDevice, 0};
  float host[kCount] = {}, addend = 4, *scratch, *kept;
  int n = kCount;
  call(cudaGraphCreate(&graph, 0));
  call(cudaGraphAddMemAllocNode(&allocation, graph, nullptr, 0, &memory));
  scratch = static_cast<float*>(memory.dptr);
  cudaMemsetParams zeros = {scratch, 0, 0, 1, sizeof host, 1};
  call(cudaGraphAddMemsetNode(&zero, graph, &allocation, 1, &zeros));
  void* arguments[] = {&scratch, &addend, &n};
  cudaKernelNodeParams launch = launch_of_add(arguments);
  call(cudaGraphAddKernelNode(&kernel, graph, &zero, 1, &launch));
  call(
      cudaGraphAddMemcpyNode1D(&copy, graph, &kernel, 1, host, scratch, sizeof host, cudaMemcpyDeviceToHost));
  call(cudaGraphAddMemFreeNode(&release, graph, &copy, 1, scratch));
  cudaGraphExec_t exec;
  call(cudaGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < 3; ++i) call(cudaGraphLaunch(exec, stream));
  call(cudaStreamSynchronize(stream));
  check(host[3] == 4, "memory of a graph");
  call(cudaGraphExecDestroy(exec));
  call(cudaGraphDestroy(graph));

  call(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  call(cudaMallocAsync(&kept, sizeof host, stream));
  call(cudaMemsetAsync(kept, 0, sizeof host, stream));
  add<<<1, kCount, 0, stream>>>(kept, 8, kCount);
  call(cudaStreamEndCapture(stream, &graph));
  call(cudaGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < 2; ++i) {
    call(cudaGraphLaunch(exec, stream));
    add<<<1, kCount, 0, stream>>>(kept, 1, kCount);
    call(cudaMemcpyAsync(host, kept, sizeof host, cudaMemcpyDeviceToHost, stream));
    call(cudaFreeAsync(kept, stream));
    call(cudaStreamSynchronize(stream));
    check(host[3] == 9, "memory that outlives the launch");
  }
  call(cudaGraphExecDestroy(exec));
  call(cudaGraphDestroy(graph));
}

/// A kernel decides how often a graph within the graph runs.
void conditional_nodes(cudaStream_t stream) {
  int *rest, host = -1;
  call(cudaMalloc(&rest, sizeof host));
  cudaGraph_t graph;
  cudaGraphNode_t loop, step;
  cudaGraphConditionalHandle goes_on;
  call(cudaGraphCreate(&graph, 0));
  call(cudaGraphConditionalHandleCreate(&goes_on, graph, 1, cudaGraphCondAssignDefault));
  cudaGraphNodeParams parameters = {cudaGraphNodeTypeConditional};
  parameters.conditional.handle = goes_on;
  parameters.conditional.type = cudaGraphCondTypeWhile;
  parameters.conditional.size = 1;
  call(cudaGraphAddNode(&loop, graph, nullptr, nullptr, 0, &parameters));
  void* arguments[] = {&rest, &goes_on};
  cudaGraphNodeParams body = {cudaGraphNodeTypeKernel};
  body.kernel.func = (void*)count_down;
  body.kernel.gridDim = body.kernel.blockDim = dim3(1);
  body.kernel.kernelParams = arguments;
  call(cudaGraphAddNode(&step, parameters.conditional.phGraph_out[0], nullptr, nullptr, 0, &body));
  cudaGraphExec_t exec;
  call(cudaGraphInstantiate(&exec, graph, 0));
  for (const int rounds : {7, 2}) {
    call(cudaMemcpy(rest, &rounds, sizeof rounds, cudaMemcpyHostToDevice));
    call(cudaGraphLaunch(exec, stream));
    call(cudaStreamSynchronize(stream));
    call(cudaMemcpy(&host, rest, sizeof host, cudaMemcpyDeviceToHost));
    check(host == 0, "a loop in a graph");
  }
  call(cudaGraphExecDestroy(exec));
  call(cudaGraphDestroy(graph));
  call(cudaFree(rest));
}

int main() {
  cudaStream_t stream;
  call(cudaStreamCreate(&stream));
  explicit_nodes(stream);
  captured_streams(stream);
  lost_captures(stream);
  memory_nodes(stream);
  conditional_nodes(stream);
  call(cudaStreamDestroy(stream));
  printf(failures == 0 ? "ok\n" : "%d failures\n", failures);
  return failures;
}
