#pragma once
/// @file
/// A framework in small, which calls an operator as PyTorch does: its tensors are described by DLTensor, its
/// work is queued in a stream of its own. Lesson 29's entries are made of it and of the student's operator.

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <vector>

#include "device/cuda_check.hpp"
#include "tensor/dlpack.hpp"

namespace course::device {

/// A stream that does not wait for the default stream, nor that for it.
class FrameworkStream {
 public:
  FrameworkStream() { CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  ~FrameworkStream() { (void)cudaStreamDestroy(stream_); }
  FrameworkStream(const FrameworkStream&) = delete;
  FrameworkStream& operator=(const FrameworkStream&) = delete;

  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

/// A tensor of the framework. Its numbers come when the stream brings them; until then, its memory holds NaN.
class FrameworkTensor {
 public:
  /// lent: kLentNumbers numbers that describe the tensor, on the host.
  explicit FrameworkTensor(const std::int64_t* lent)
      : bytes_(static_cast<std::size_t>(lent[8])),
        shape_(lent + 9, lent + 9 + kLentAxes),
        strides_(lent + 9 + kLentAxes, lent + kLentNumbers) {
    CUDA_CHECK(cudaMalloc(&memory_, std::max(bytes_, std::size_t{1})));
    CUDA_CHECK(cudaMemset(memory_, 0xFF, bytes_));  // NaN
    tensor_ = {memory_,
               {static_cast<std::int32_t>(lent[0]), static_cast<std::int32_t>(lent[1])},
               static_cast<std::int32_t>(lent[5]),
               {static_cast<std::uint8_t>(lent[2]), static_cast<std::uint8_t>(lent[3]),
                static_cast<std::uint16_t>(lent[4])},
               shape_.data(),
               lent[6] != 0 ? strides_.data() : nullptr,
               static_cast<std::uint64_t>(lent[7])};
  }
  ~FrameworkTensor() { (void)cudaFree(memory_); }
  FrameworkTensor(const FrameworkTensor&) = delete;
  FrameworkTensor& operator=(const FrameworkTensor&) = delete;

  const DLTensor& get() const { return tensor_; }
  /// Queues a copy from or to other memory on the device.
  void bring(const void* from, cudaStream_t stream) { copy(memory_, from, stream); }
  void take(void* to, cudaStream_t stream) { copy(to, memory_, stream); }
  /// Queues that its numbers become NaN: the framework has let go of them.
  void let_go(cudaStream_t stream) const { CUDA_CHECK(cudaMemsetAsync(memory_, 0xFF, bytes_, stream)); }

 private:
  void copy(void* to, const void* from, cudaStream_t stream) const {
    if (bytes_ > 0) CUDA_CHECK(cudaMemcpyAsync(to, from, bytes_, cudaMemcpyDeviceToDevice, stream));
  }

  void* memory_ = nullptr;
  std::size_t bytes_;
  std::vector<std::int64_t> shape_, strides_;
  DLTensor tensor_{};
};

// [operator]
/// What a result will look like: all that a compiler needs to know to plan with it.
struct ResultDescription {
  DLDataType dtype;
  std::vector<std::int64_t> shape;
};

/// The operator, as its author registers it with the framework.
struct AttentionOperator {
  std::vector<ResultDescription> (*describe_results)(const DLTensor& Q, const DLTensor& K, const DLTensor& V);
  void (*forward)(const DLTensor& Q, const DLTensor& K, const DLTensor& V, const DLTensor& O,
                  const DLTensor& lse, float scale, bool causal, cudaStream_t stream);
  std::vector<DLTensor> (*save_for_backward)(const DLTensor& Q, const DLTensor& K, const DLTensor& V,
                                             const DLTensor& O, const DLTensor& lse);
  void (*backward)(const std::vector<DLTensor>& saved, const DLTensor& dO, const DLTensor& dQ,
                   const DLTensor& dK, const DLTensor& dV, float scale, bool causal, cudaStream_t stream);
};
// [operator]

/// What the framework does around one call: its tensors, and their numbers, which come and go in its stream.
class FrameworkCall {
 public:
  /// Tensors for the inputs, then for the results; lent: kLentNumbers numbers for each, on the host. Their
  /// numbers are queued, those that results have before the call among them.
  FrameworkCall(const std::int64_t* lent, std::initializer_list<const float*> inputs,
                std::initializer_list<float*> results)
      : results_(results), inputs_(inputs.size()) {
    for (std::size_t i = 0; i < inputs.size() + results.size(); ++i)
      tensors_.emplace_back(lent + i * kLentNumbers);
    CUDA_CHECK(cudaDeviceSynchronize());
    std::size_t i = 0;
    for (const float* input : inputs) tensors_[i++].bring(input, stream_.get());
    for (const float* result : results) tensors_[i++].bring(result, stream_.get());
  }

  const DLTensor& operator[](std::size_t i) const { return tensors_[i].get(); }

  /// Lets go of those of the first `count` inputs that are not among the saved.
  void keep(const std::vector<DLTensor>& saved, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      if (std::none_of(saved.begin(), saved.end(),
                       [&](const DLTensor& x) { return x.data == (*this)[i].data; }))
        tensors_[i].let_go(stream_.get());
  }

  cudaStream_t stream() const { return stream_.get(); }

  /// Queues what comes after the operator, and waits for it as the user of a framework does in the end.
  void finish() {
    for (std::size_t i = 0; i < results_.size(); ++i) tensors_[inputs_ + i].take(results_[i], stream_.get());
    CUDA_CHECK(cudaStreamSynchronize(stream_.get()));
    CUDA_CHECK(cudaDeviceSynchronize());  // for kernels in other streams, before their memory is freed
  }

 private:
  FrameworkStream stream_;
  std::deque<FrameworkTensor> tensors_;
  std::vector<float*> results_;
  std::size_t inputs_;
};

/// Q, K and V are lent; results: code, bits, lanes and ndim of each result, and kLentAxes sizes, on the host.
inline void call_describe(const AttentionOperator& op, const std::int64_t* lent, std::int64_t* results) {
  const FrameworkTensor Q(lent), K(lent + kLentNumbers), V(lent + 2 * kLentNumbers);
  for (const ResultDescription& result : op.describe_results(Q.get(), K.get(), V.get())) {
    const std::int64_t type[4] = {result.dtype.code, result.dtype.bits, result.dtype.lanes,
                                  static_cast<std::int64_t>(result.shape.size())};
    results = std::copy(type, type + 4, results);
    for (std::size_t axis = 0; axis < kLentAxes; ++axis)
      *results++ = axis < result.shape.size() ? result.shape[axis] : 0;
  }
}

inline void call_forward(const AttentionOperator& op, const float* Q, const float* K, const float* V,
                         const std::int64_t* lent, float* O, float* lse, float scale, bool causal) {
  FrameworkCall call(lent, {Q, K, V}, {O, lse});
  op.forward(call[0], call[1], call[2], call[3], call[4], scale, causal, call.stream());
  call.finish();
}

inline void call_backward(const AttentionOperator& op, const float* Q, const float* K, const float* V,
                          const float* O, const float* lse, const float* dO, const std::int64_t* lent,
                          float* dQ, float* dK, float* dV, float scale, bool causal) {
  FrameworkCall call(lent, {Q, K, V, O, lse, dO}, {dQ, dK, dV});
  const std::vector<DLTensor> saved = op.save_for_backward(call[0], call[1], call[2], call[3], call[4]);
  constexpr std::size_t kFromForward = 5;  // Q, K, V, O and lse
  call.keep(saved, kFromForward);
  op.backward(saved, call[5], call[6], call[7], call[8], scale, causal, call.stream());
  call.finish();
}

}  // namespace course::device
