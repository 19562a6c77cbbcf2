// In the way of attention libraries: traits, dynamic shared memory cut by hand, kernels held in auto variables.
#include <cuda_runtime.h>

#include <cmath>
#include <type_traits>

namespace attention {

template <int kHeadDim_, int kBlockM_, int kBlockN_, int kNWarps_, typename elem_type = float>
struct Traits {
  using Element = elem_type;
  static constexpr int kHeadDim = kHeadDim_, kBlockM = kBlockM_, kBlockN = kBlockN_, kNThreads = kNWarps_ * 32;
  static constexpr int kSmemSize = (kBlockM + 2 * kBlockN) * kHeadDim * sizeof(Element);
};

struct Params {
  const void *__restrict__ q_ptr, *__restrict__ k_ptr, *__restrict__ v_ptr;
  void *o_ptr;
  int b, h, seqlen_q, seqlen_k;
  float scale_log2;
};

template <typename Traits, bool Is_causal, bool Is_even>
__global__ void __launch_bounds__(Traits::kNThreads, 1) forward_kernel(const Params params) {
  using Element = typename Traits::Element;
  // One buffer of bytes; the tiles are cut from it.
  extern __shared__ __align__(128) unsigned char smem_[];
  Element* const Q_smem = reinterpret_cast<Element*>(smem_);
  Element* const K_smem = Q_smem + Traits::kBlockM * Traits::kHeadDim;
  __shared__ alignas(16) float row_max[Traits::kBlockM], row_sum[Traits::kBlockM];
  const int m = blockIdx.x, tid = threadIdx.x;
  if (tid < Traits::kBlockM) row_max[tid] = -INFINITY, row_sum[tid] = 0.f;
  __syncthreads();
  const int n_max = Is_causal ? (m + 1) * Traits::kBlockM : params.seqlen_k;
  for (int n = 0; n < n_max && (Is_even || n < params.seqlen_k); n += Traits::kBlockN) {
    if (tid < Traits::kHeadDim) K_smem[tid] = static_cast<const Element*>(params.k_ptr)[n * Traits::kHeadDim + tid];
    __syncthreads();
  }
}

template <typename Traits, bool Is_causal>
void run(Params& params, cudaStream_t stream) {
  constexpr size_t smem_size = Traits::kSmemSize;
  const int num_m_block = (params.seqlen_q + Traits::kBlockM - 1) / Traits::kBlockM;
  dim3 grid(num_m_block, params.b, params.h);
  const bool is_even = params.seqlen_k % Traits::kBlockN == 0;
  if (is_even) {
    auto kernel = &forward_kernel<Traits, Is_causal, /*Is_even=*/true && Traits::kHeadDim <= 128>;
    if (smem_size >= 48 * 1024) {
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, smem_size);
    }
    kernel<<<grid, Traits::kNThreads, smem_size, stream>>>(params);
  } else {
    forward_kernel<Traits, Is_causal, /*Is_even=*/(Traits::kHeadDim > 1024)>
        <<<grid, Traits::kNThreads, smem_size, stream>>>(params);
  }
}

template void run<Traits<64, 64, 32, 4>, true>(Params&, cudaStream_t);
template void run<Traits<128, 64, 32, 4, double>, false>(Params&, cudaStream_t);

}  // namespace attention
