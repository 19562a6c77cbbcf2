// The weights that the solution of lesson 13 gives to eight keys, for some learned sinks, as CSV. The values
// of the keys are the rows of a unit matrix, so that a row of O holds the weights.
// scripts/figure_attention_sinks.py
// --measure joins this to the solution.

#include <cmath>
#include <cstdio>
#include <vector>

#include "attention_tiles.hpp"

int main() {
  const std::vector<float> scores{3.0f, 1.5f, 0.0f, 0.5f, -1.0f, 1.0f, 2.0f, 0.5f};
  const auto N = static_cast<long>(scores.size());
  std::vector<float> keys(scores.size() * scores.size(), 0.0f), values = keys, query(scores.size(), 0.0f);
  query[0] = 1.0f;
  for (std::size_t j = 0; j < scores.size(); ++j) {
    keys[j * scores.size()] = scores[j];
    values[j * scores.size() + j] = 1.0f;
  }
  const course::figures::OnDevice Q(query), K(keys), V(values), O(query), lse(std::vector<float>{0.0f});
  std::printf("sink,lse,weights\n");
  for (const float sink : {-INFINITY, 0.0f, 2.0f, 3.0f, 4.0f, 6.0f}) {
    const course::figures::OnDevice learned(std::vector<float>{sink});
    course::attention_with_sinks(Q.matrix<const float>(1, N), K.matrix<const float>(N, N),
                                 V.matrix<const float>(N, N), learned.row(1).data, O.matrix<float>(1, N),
                                 lse.row(1), 1.0f, N, 0);
    CUDA_CHECK(cudaDeviceSynchronize());
    std::printf("%g,%.6g", static_cast<double>(sink), static_cast<double>(lse.values()[0]));
    for (const float weight : O.values()) std::printf(",%.6g", static_cast<double>(weight));
    std::printf("\n");
  }
}
