// One call of sliding_window_attention on N queries and N keys in 64 dimensions; N and the window are the
// program's arguments. scripts/figure_sliding_window.py --measure joins this to the solution of lesson 12 and
// counts what it reads.

#include <cstdlib>

#include "attention_tiles.hpp"

int main(int, char** arguments) {
  const std::int64_t N = std::atoll(arguments[1]), window = std::atoll(arguments[2]), D = 64;
  const std::vector<float> zeros(static_cast<std::size_t>(N * D), 0.0f);
  const course::figures::OnDevice Q(zeros), K(zeros), V(zeros), O(zeros), lse(zeros);
  course::sliding_window_attention(Q.matrix<const float>(N, D), K.matrix<const float>(N, D),
                                   V.matrix<const float>(N, D), O.matrix<float>(N, D), lse.row(N), 0.125f,
                                   window);
  CUDA_CHECK(cudaDeviceSynchronize());
}
