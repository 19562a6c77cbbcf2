// Alternative for lesson 29: kernels stay in the default stream, and two events put them in the framework's
// order; what is saved has an order of its own; and strides are computed from the front.

#include "pytorch_op.hpp"

#include <cuda_runtime.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "device/cuda_check.hpp"
#include "device/framework.hpp"
#include "device/plain_attention.hpp"
#include "device/views.hpp"

namespace course {

using device::ResultDescription;

inline constexpr DLDataType kFloat32{kDLFloat, 32, 1};

/// @brief A tensor that a framework lends, as a view of its memory. Nothing is copied.
/// @throws std::invalid_argument, naming the tensor, unless it is on a CUDA device, has float32 and kRank
/// axes.
template <class T, int kRank>
View<T, kRank> bind(const char* name, const DLTensor& X) {
  if (X.device.device_type != kDLCUDA)
    throw std::invalid_argument(std::string(name) + " must be on a CUDA device, but it is on one of kind " +
                                std::to_string(X.device.device_type) + ".");
  if (X.dtype.code != kFloat32.code || X.dtype.bits != kFloat32.bits || X.dtype.lanes != kFloat32.lanes)
    throw std::invalid_argument(std::string(name) + " must hold float32, but its elements have kind " +
                                std::to_string(X.dtype.code) + " and " + std::to_string(X.dtype.lanes) +
                                " x " + std::to_string(X.dtype.bits) + " bits.");
  if (X.ndim != kRank)
    throw std::invalid_argument(std::string(name) + " must have " + std::to_string(kRank) +
                                " axes, but it has " + std::to_string(X.ndim) + ".");
  View<T, kRank> view{};
  view.data = reinterpret_cast<T*>(static_cast<char*>(X.data) + X.byte_offset);
  for (int axis = 0; axis < kRank; ++axis) {
    view.shape[axis] = X.shape[axis];
    if (X.strides != nullptr) {
      view.strides[axis] = X.strides[axis];
      continue;
    }
    view.strides[axis] = 1;
    for (int after = axis + 1; after < kRank; ++after) view.strides[axis] *= X.shape[after];
  }
  return view;
}

/// @brief What O and lse look like, without computing them: what PyTorch calls a fake kernel.
std::vector<ResultDescription> describe_results(const DLTensor& Q, const DLTensor&, const DLTensor&) {
  return {{Q.dtype, {Q.shape[0], Q.shape[1], Q.shape[2], Q.shape[3]}},
          {kFloat32, {Q.shape[0], Q.shape[1], Q.shape[2]}}};
}

/// What `second` gets from now on waits for all that `first` has got.
void order(cudaStream_t first, cudaStream_t second) {
  cudaEvent_t event = nullptr;
  CUDA_CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  const cudaError_t recorded = cudaEventRecord(event, first);
  const cudaError_t waits = recorded == cudaSuccess ? cudaStreamWaitEvent(second, event, 0) : recorded;
  CUDA_CHECK(cudaEventDestroy(event));
  CUDA_CHECK(waits);
}

/// Blocks for a kernel with a thread for each row.
unsigned blocks_for(std::int64_t rows) {
  return static_cast<unsigned>((rows + device::kPlainThreads - 1) / device::kPlainThreads);
}

/// @throws std::invalid_argument unless rows of Q have 1 to kPlainMaxDim numbers.
void require_dim(const View<const float, 4>& Q) {
  if (Q.shape[3] < 1 || Q.shape[3] > device::kPlainMaxDim)
    throw std::invalid_argument("Q must have 1 to 128 numbers in each row, but it has " +
                                std::to_string(Q.shape[3]) + ".");
}

/// @brief O and lse, in the order of the framework's stream.
void forward(const DLTensor& Q_lent, const DLTensor& K_lent, const DLTensor& V_lent, const DLTensor& O_lent,
             const DLTensor& lse_lent, float scale, bool causal, cudaStream_t stream) {
  const auto Q = bind<const float, 4>("Q", Q_lent);
  const auto K = bind<const float, 4>("K", K_lent);
  const auto V = bind<const float, 4>("V", V_lent);
  const auto O = bind<float, 4>("O", O_lent);
  const auto lse = bind<float, 3>("lse", lse_lent);
  const std::int64_t B = Q.shape[0], H = Q.shape[1], Nq = Q.shape[2], D = Q.shape[3], Nk = K.shape[2];
  device::require_shape("K", K, {B, H, Nk, D});
  device::require_shape("V", V, {B, H, Nk, D});
  device::require_shape("O", O, {B, H, Nq, D});
  device::require_shape("lse", lse, {B, H, Nq});
  if (B * H * Nq == 0) return;
  require_dim(Q);
  order(stream, nullptr);
  device::plain_forward_kernel<<<blocks_for(B * H * Nq), device::kPlainThreads>>>(Q, K, V, O, lse, scale,
                                                                                  causal);
  CUDA_CHECK(cudaGetLastError());
  order(nullptr, stream);
}

/// @brief The tensors that the framework keeps for the backward pass, and hands to it in this order.
std::vector<DLTensor> save_for_backward(const DLTensor& Q, const DLTensor& K, const DLTensor& V,
                                        const DLTensor& O, const DLTensor& lse) {
  return {lse, O, V, K, Q};
}

/// @brief dQ, dK and dV, in the order of the framework's stream.
void backward(const std::vector<DLTensor>& saved, const DLTensor& dO_lent, const DLTensor& dQ_lent,
              const DLTensor& dK_lent, const DLTensor& dV_lent, float scale, bool causal,
              cudaStream_t stream) {
  const auto dO = bind<const float, 4>("dO", dO_lent);
  const auto dQ = bind<float, 4>("dQ", dQ_lent);
  const auto dK = bind<float, 4>("dK", dK_lent);
  const auto dV = bind<float, 4>("dV", dV_lent);
  const auto Q = bind<const float, 4>("Q", saved.at(4));
  const auto K = bind<const float, 4>("K", saved.at(3));
  const auto V = bind<const float, 4>("V", saved.at(2));
  const auto O = bind<const float, 4>("O", saved.at(1));
  const auto lse = bind<const float, 3>("lse", saved.at(0));
  const std::int64_t B = Q.shape[0], H = Q.shape[1], Nq = Q.shape[2], D = Q.shape[3], Nk = K.shape[2];
  require_dim(Q);
  device::require_shape("K", K, {B, H, Nk, D});
  device::require_shape("V", V, {B, H, Nk, D});
  device::require_shape("O", O, {B, H, Nq, D});
  device::require_shape("lse", lse, {B, H, Nq});
  device::require_shape("dO", dO, {B, H, Nq, D});
  device::require_shape("dQ", dQ, {B, H, Nq, D});
  device::require_shape("dK", dK, {B, H, Nk, D});
  device::require_shape("dV", dV, {B, H, Nk, D});
  const device::PlainSaved arg{Q, K, V, O, lse, dO, scale, causal};
  order(stream, nullptr);
  if (B * H * Nq > 0) {
    device::plain_queries_kernel<<<blocks_for(B * H * Nq), device::kPlainThreads>>>(arg, dQ);
    CUDA_CHECK(cudaGetLastError());
  }
  if (B * H * Nk > 0) {
    device::plain_keys_kernel<<<blocks_for(B * H * Nk), device::kPlainThreads>>>(arg, dK, dV);
    CUDA_CHECK(cudaGetLastError());
  }
  order(nullptr, stream);
}

/// The operator, as the framework knows it.
constexpr device::AttentionOperator kAttention{describe_results, forward, save_for_backward, backward};

void call_describe(const std::int64_t* lent, std::int64_t* results) {
  device::call_describe(kAttention, lent, results);
}

void call_forward(const float* Q, const float* K, const float* V, const std::int64_t* lent, float* O,
                  float* lse, float scale, bool causal) {
  device::call_forward(kAttention, Q, K, V, lent, O, lse, scale, causal);
}

void call_backward(const float* Q, const float* K, const float* V, const float* O, const float* lse,
                   const float* dO, const std::int64_t* lent, float* dQ, float* dK, float* dV, float scale,
                   bool causal) {
  device::call_backward(kAttention, Q, K, V, O, lse, dO, lent, dQ, dK, dV, scale, causal);
}

}  // namespace course
