// Grouped-query attention of 8 heads of Q with Nq queries and H_kv heads of K and V with 256 keys, in 64
// dimensions, once for all heads and then once for each head of Q alone: what a kernel reads whose blocks
// have one head each. Nq and H_kv are the program's arguments. scripts/figure_grouped_query.py --measure
// joins it to the solution of lesson 11 and counts what it reads.

#include <cstdint>
#include <cstdlib>

namespace {

constexpr std::int64_t kHeads = 8, kKeys = 256, kDim = 64;

/// Zeros in device memory; how much is read does not depend on the numbers.
class Zeros {
 public:
  Zeros(std::int64_t heads, std::int64_t rows, std::int64_t cols) : heads_(heads), rows_(rows), cols_(cols) {
    const auto bytes = static_cast<std::size_t>(heads * rows * cols) * sizeof(float);
    CUDA_CHECK(cudaMalloc(&data_, bytes));
    CUDA_CHECK(cudaMemset(data_, 0, bytes));
  }
  ~Zeros() { cudaFree(data_); }
  Zeros(const Zeros&) = delete;
  Zeros& operator=(const Zeros&) = delete;

  template <class T>
  course::View<T, 4> heads(std::int64_t first, std::int64_t count) const {
    return {data_ + first * rows_ * cols_,
            {1, count, rows_, cols_},
            {heads_ * rows_ * cols_, rows_ * cols_, cols_, 1}};
  }
  course::View<float, 3> row_of_heads(std::int64_t first, std::int64_t count) const {
    return {data_ + first * rows_, {1, count, rows_}, {heads_ * rows_, rows_, 1}};
  }

 private:
  std::int64_t heads_, rows_, cols_;
  float* data_ = nullptr;
};

}  // namespace

int main(int, char** arguments) {
  const std::int64_t Nq = std::atoll(arguments[1]), H_kv = std::atoll(arguments[2]);
  const Zeros Q(kHeads, Nq, kDim), K(H_kv, kKeys, kDim), V(H_kv, kKeys, kDim), O(kHeads, Nq, kDim),
      lse(kHeads, Nq, 1);
  const auto attend = [&](std::int64_t first, std::int64_t heads, std::int64_t kv_first,
                          std::int64_t kv_heads) {
    course::grouped_query_attention(Q.heads<const float>(first, heads),
                                    K.heads<const float>(kv_first, kv_heads),
                                    V.heads<const float>(kv_first, kv_heads), O.heads<float>(first, heads),
                                    lse.row_of_heads(first, heads), 0.125f, false);
  };
  attend(0, kHeads, 0, H_kv);
  for (std::int64_t head = 0; head < kHeads; ++head) attend(head, 1, head / (kHeads / H_kv), 1);
  CUDA_CHECK(cudaDeviceSynchronize());
}
