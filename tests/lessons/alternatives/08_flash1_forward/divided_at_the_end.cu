// Alternative for lesson 08: O waits unnormalised, as in FlashAttention-2, and only the last tile of keys
// divides; tiles of 64 queries and 32 keys; l and m go through shared memory, and four threads share a row.

#include <cuda_runtime.h>

#include <cmath>

#include "device/attention_arguments.hpp"
#include "device/attention_tile.hpp"
#include "device/cuda_check.hpp"
#include "device/tile_matmul.hpp"
#include "flash1_forward.hpp"

namespace course {
namespace {

constexpr int kM = 64, kN = 32, kDim = kMaxDim, kThreads = 256;
using Scores = device::TileShape<kM, kN, kDim, 4, 4, 8>;   // 128 of the threads
using Output = device::TileShape<kM, kDim, kN, 4, 8, 16>;  // all of them
static_assert(Output::kThreads == kThreads && Scores::kThreads == kThreads / 2);

struct Shared {
  device::SharedTile<kM, kDim> Q;
  device::SharedTile<kN, kDim> K;
  device::SharedTile<kDim, kN> V;
  device::SharedTile<kM, kN> S;  // and P
  float rescale[kM], l[kM];
};

__global__ void __launch_bounds__(kThreads)
    keys_kernel(View<const float, 4> Q_all, View<const float, 4> K_all, View<const float, 4> V_all,
                View<float, 4> O_all, View<float, 3> l_all, View<float, 3> m_all, float scale) {
  extern __shared__ float4 memory[];
  Shared& smem = *reinterpret_cast<Shared*>(memory);
  const std::int64_t batch = blockIdx.x, head = blockIdx.y;
  const auto Q = device::matrix_of(Q_all, batch, head), K = device::matrix_of(K_all, batch, head),
             V = device::matrix_of(V_all, batch, head);
  const auto O = device::matrix_of(O_all, batch, head);
  const auto l = device::row_of(l_all, batch, head), m = device::row_of(m_all, batch, head);
  const std::int64_t Nq = Q.shape[0], Nk = K.shape[0];
  const int thread = static_cast<int>(threadIdx.x);

  std::int64_t first_key = 0;
  do {
    __syncthreads();
    device::load_tile<kThreads>(K, first_key, 0, smem.K);
    device::load_tile<kThreads>(device::transposed(V), 0, first_key, smem.V);
    for (std::int64_t first_query = 0; first_query < Nq; first_query += kM) {
      __syncthreads();
      device::load_tile<kThreads>(Q, first_query, 0, smem.Q);
      __syncthreads();
      if (thread < Scores::kThreads) {
        Scores::Accumulator S = {};
        device::multiply_add<Scores>(smem.Q, smem.K, S);
        for (auto& row : S)
          for (float& s : row) s *= scale;
        device::hide_scores<Scores>(S, [=](int, int col) { return first_key + col >= Nk; });
        device::put_tile<Scores>(S, smem.S);
      }
      __syncthreads();

      const int row = thread / 4, quarter = thread % 4;
      const std::int64_t query = first_query + row;
      const bool first = first_key == 0, inside = query < Nq;
      const float m_old = inside && !first ? m.data[query * m.strides[0]] : -INFINITY;
      const float l_old = inside && !first ? l.data[query * l.strides[0]] : 0.0f;
      float m_new = m_old, sum = 0.0f;
      for (int key = quarter; key < kN; key += 4) m_new = fmaxf(m_new, smem.S.at[key][row]);
      m_new = device::max_warp<4>(m_new);
      const float base = m_new == -INFINITY ? 0.0f : m_new;
      for (int key = quarter; key < kN; key += 4)
        sum += smem.S.at[key][row] = expf(smem.S.at[key][row] - base);
      const float rescale = expf(m_old - base);
      const float l_new = l_old * rescale + device::sum_warp<4>(sum);
      __syncwarp();  // the four have read m and l
      if (quarter == 0) {
        smem.rescale[row] = rescale;
        smem.l[row] = l_new;
        if (inside) m.data[query * m.strides[0]] = m_new, l.data[query * l.strides[0]] = l_new;
      }
      __syncthreads();

      Output::Accumulator o = {};
      if (!first) device::fetch_tile<Output>(device::read_only(O), first_query, 0, o);
      for (int i = 0; i < Output::kThreadRows; ++i)
        for (float& x : o[i]) x *= smem.rescale[Output::row(i)];
      device::multiply_add<Output>(smem.S, smem.V, o);
      if (first_key + kN >= Nk)
        for (int i = 0; i < Output::kThreadRows; ++i)
          for (float& x : o[i]) x = smem.l[Output::row(i)] == 0.0f ? 0.0f : x / smem.l[Output::row(i)];
      device::store_tile<Output>(o, O, first_query, 0);
    }
    first_key += kN;
  } while (first_key < Nk);
}

}  // namespace

void flash1_forward(View<const float, 4> Q, View<const float, 4> K, View<const float, 4> V, View<float, 4> O,
                    View<float, 3> l, View<float, 3> m, float scale) {
  const std::int64_t B = Q.shape[0], H = Q.shape[1], Nq = Q.shape[2];
  device::require_attention_arguments(Q, K, V, O, H, kMaxDim);
  device::require_shape("l", l, {B, H, Nq});
  device::require_shape("m", m, {B, H, Nq});
  if (B * H * Nq == 0) return;
  CUDA_CHECK(cudaFuncSetAttribute(keys_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(Shared)));
  const dim3 grid(static_cast<unsigned>(B), static_cast<unsigned>(H));
  keys_kernel<<<grid, kThreads, sizeof(Shared)>>>(Q, K, V, O, l, m, scale);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace course
