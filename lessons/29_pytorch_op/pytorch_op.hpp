#pragma once
/// @file
/// Lesson 29: kernels as an operator of a framework.

#include <cstdint>

#include "tensor/dlpack.hpp"

namespace course {

// [contract]
/// @brief What the operator's results look like, for Q, K and V that hold no numbers yet.
/// Lent: kLentNumbers numbers each for Q, K and V, on the host; the framework makes a DLTensor of them.
/// Results: O has the shape and the type of Q, lse is (B, H, Nq) of float32. For both: code, bits, lanes,
///         ndim, and kLentAxes sizes, those past ndim 0; on the host.
/// Domain: Q of float32, float16 and bfloat16: the description is that of all kernels of the course.
/// Launch: none.
void call_describe(const std::int64_t* lent, std::int64_t* results);

/// @brief O and lse of attention, by the operator that you write, called by a framework in small.
/// Shapes: Q, O are (B, H, Nq, D), K, V are (B, H, Nk, D), lse is (B, H, Nq); D is 1 to 128. float32.
///         Any strides, also of 0; without strides a tensor is row-major. Without rows of Q, nothing is
///         launched. Without keys, O is 0 and lse is -∞.
/// Lent:   kLentNumbers numbers each for Q, K, V, O and lse, on the host.
/// Stream: what the stream got before the operator is done when its kernel begins; what the stream gets
///         afterwards begins when it is done. The operator need not wait for its kernels.
/// Error:  at most twice that of a plain float32 implementation.
/// @throws std::invalid_argument, naming the argument, for a tensor that is not on a CUDA device, whose
///         elements are not single numbers of float32, whose ndim is another one, or whose shape does not
///         fit.
void call_forward(const float* Q, const float* K, const float* V, const std::int64_t* lent, float* O,
                  float* lse, float scale, bool causal);

/// @brief dQ, dK and dV, from what the operator has had saved, and from dO.
/// Shapes: dO, dQ as Q, dK, dV as K; the others as for call_forward(), with O and lse that it gave. Without
///         rows of Q, dK and dV are 0; without keys, dQ is 0; without both, nothing is launched.
/// Lent:   kLentNumbers numbers each for Q, K, V, O, lse, dO, dQ, dK and dV, on the host.
/// Stream, Error and what it throws: as call_forward().
void call_backward(const float* Q, const float* K, const float* V, const float* O, const float* lse,
                   const float* dO, const std::int64_t* lent, float* dQ, float* dK, float* dV, float scale,
                   bool causal);
// [contract]

}  // namespace course
