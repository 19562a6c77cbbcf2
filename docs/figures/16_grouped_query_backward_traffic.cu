// The gradients of attention of 8 heads of Q with 128 queries and H_kv heads of K and V with 128 keys, in 64
// dimensions: once by one call, whose kernel of dK and dV adds up over the heads of a group in registers, and
// once through dK and dV of single heads, which a kernel of their own adds up afterwards. H_kv is the
// program's argument. scripts/figure_grouped_query_backward.py --measure joins it to the solution of lesson
// 16 and counts what is loaded and stored.

#include <cstdint>
#include <cstdlib>

namespace {

constexpr std::int64_t kHeads = 8, kRows = 128, kDim = 64;

/// Zeros in device memory, (1, heads, 128, cols); how much is moved does not depend on the numbers.
class Zeros {
 public:
  Zeros(std::int64_t heads, std::int64_t cols) : cols_(cols) {
    const auto bytes = static_cast<std::size_t>(heads * kRows * cols) * sizeof(float);
    CUDA_CHECK(cudaMalloc(&data_, bytes));
    CUDA_CHECK(cudaMemset(data_, 0, bytes));
  }
  ~Zeros() { cudaFree(data_); }
  Zeros(const Zeros&) = delete;
  Zeros& operator=(const Zeros&) = delete;

  template <class T>
  course::View<T, 4> heads(std::int64_t first, std::int64_t count) const {
    return {at(first), {1, count, kRows, cols_}, {count * kRows * cols_, kRows * cols_, cols_, 1}};
  }
  /// The same head, `count` times.
  course::View<const float, 4> repeated(std::int64_t head, std::int64_t count) const {
    return {at(head), {1, count, kRows, cols_}, {0, 0, cols_, 1}};
  }
  template <class T>
  course::View<T, 3> rows(std::int64_t first, std::int64_t count) const {
    return {at(first), {1, count, kRows}, {count * kRows, kRows, 1}};
  }
  float* at(std::int64_t head) const { return data_ + head * kRows * cols_; }

 private:
  std::int64_t cols_;
  float* data_ = nullptr;
};

/// sum = what the `count` heads that begin at `heads` hold, element by element.
__global__ void sum_of_heads_kernel(const float* heads, std::int64_t count, float* sum) {
  const std::int64_t size = kRows * kDim;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < size;
       i += std::int64_t{gridDim.x} * blockDim.x) {
    float x = 0.0f;
    for (std::int64_t head = 0; head < count; ++head) x += heads[head * size + i];
    sum[i] = x;
  }
}

}  // namespace

int main(int, char** arguments) {
  const std::int64_t H_kv = std::atoll(arguments[1]), group = kHeads / H_kv;
  const Zeros Q(kHeads, kDim), K(H_kv, kDim), V(H_kv, kDim), O(kHeads, kDim), dO(kHeads, kDim),
      dQ(kHeads, kDim), dK(H_kv, kDim), dV(H_kv, kDim), lse(kHeads, 1), delta(kHeads, 1);
  const auto gradients = [&](std::int64_t first, std::int64_t heads, auto K_heads, auto V_heads,
                             auto dK_heads, auto dV_heads) {
    course::grouped_query_backward(Q.heads<const float>(first, heads), K_heads, V_heads,
                                   O.heads<const float>(first, heads), lse.rows<const float>(first, heads),
                                   dO.heads<const float>(first, heads), delta.rows<float>(first, heads),
                                   dQ.heads<float>(first, heads), dK_heads, dV_heads, 0.125f, false);
  };
  gradients(0, kHeads, K.heads<const float>(0, H_kv), V.heads<const float>(0, H_kv), dK.heads<float>(0, H_kv),
            dV.heads<float>(0, H_kv));

  const Zeros dK_alone(group, kDim), dV_alone(group, kDim);  // of the heads of one group
  for (std::int64_t head = 0; head < H_kv; ++head) {
    gradients(head * group, group, K.repeated(head, group), V.repeated(head, group),
              dK_alone.heads<float>(0, group), dV_alone.heads<float>(0, group));
    if (group == 1) continue;  // dK and dV of a head are what was to be computed
    sum_of_heads_kernel<<<64, 256>>>(dK_alone.at(0), group, dK.at(head));
    sum_of_heads_kernel<<<64, 256>>>(dV_alone.at(0), group, dV.at(head));
    CUDA_CHECK(cudaGetLastError());
  }
  CUDA_CHECK(cudaDeviceSynchronize());
}
