// Lesson 29: attention as an operator of a framework: tensors that it lends become views, kernels run in its
// stream, and it is told what results look like and what the backward pass needs.

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
View<T, kRank> bind([[maybe_unused]] const char* name, [[maybe_unused]] const DLTensor& X) {
  // TODO 1: what must hold before its numbers may be read as floats? Where is its first one, and the next?
  return {};
}

/// @brief What O and lse look like, without computing them: what PyTorch calls a fake kernel.
std::vector<ResultDescription> describe_results([[maybe_unused]] const DLTensor& Q, const DLTensor&,
                                                const DLTensor&) {
  // TODO 2: which type has each result, whatever that of Q is, and which shape?
  return {};
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
             const DLTensor& lse_lent, [[maybe_unused]] float scale, [[maybe_unused]] bool causal,
             [[maybe_unused]] cudaStream_t stream) {
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
  // TODO 3: plain_forward_kernel has a thread for each row of Q. After what must it run, and before what?
}

/// @brief The tensors that the framework keeps for the backward pass, and hands to it in this order.
std::vector<DLTensor> save_for_backward([[maybe_unused]] const DLTensor& Q,
                                        [[maybe_unused]] const DLTensor& K,
                                        [[maybe_unused]] const DLTensor& V,
                                        [[maybe_unused]] const DLTensor& O,
                                        [[maybe_unused]] const DLTensor& lse) {
  // TODO 4: what does the backward pass read that it cannot compute from dO?
  return {};
}

/// @brief dQ, dK and dV, in the order of the framework's stream.
void backward([[maybe_unused]] const std::vector<DLTensor>& saved, const DLTensor& dO_lent,
              const DLTensor& dQ_lent, const DLTensor& dK_lent, const DLTensor& dV_lent,
              [[maybe_unused]] float scale, [[maybe_unused]] bool causal,
              [[maybe_unused]] cudaStream_t stream) {
  const auto dO = bind<const float, 4>("dO", dO_lent);
  const auto dQ = bind<float, 4>("dQ", dQ_lent);
  const auto dK = bind<float, 4>("dK", dK_lent);
  const auto dV = bind<float, 4>("dV", dV_lent);
  // TODO 5: which saved tensor is which? Check their shapes; then plain_queries_kernel and plain_keys_kernel.
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
