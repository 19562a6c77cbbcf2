// Which tiles the backward kernels of lesson 17's solution let meet, with the window and the sinks that they
// are given: scripts/figure_full_backward.py --measure joins this to it.
//
// A group of rows of K is NaN: 0 · NaN is NaN, so every row of dQ whose block met these keys is NaN, hidden
// or not. The same with rows of Q and dK. How many pairs are seen comes from another call, in which all
// scores and lse are 0, so that every weight is 1, and dO says which group a query belongs to: dV counts.

#include <cstdlib>
#include <limits>
#include <string>

#include "attention_tiles.hpp"

namespace {

constexpr std::int64_t kRows = 512, kGroup = 32, kGroups = kRows / kGroup, kDim = kGroups;

struct Gradients {
  std::vector<float> dQ, dK, dV;
};

Gradients backward(const std::vector<float>& q, const std::vector<float>& k, const std::vector<float>& do_,
                   std::int64_t window, std::int64_t sinks) {
  const std::vector<float> zeros(kRows * kDim, 0.0f);
  const course::figures::OnDevice Q(q), K(k), V(zeros), O(zeros), lse(zeros), dO(do_), delta(zeros),
      dQ(zeros), dK(zeros), dV(zeros);
  const auto read = [](const course::figures::OnDevice& x) { return x.matrix<const float>(kRows, kDim); };
  const auto written = [](const course::figures::OnDevice& x) { return x.matrix<float>(kRows, kDim); };
  course::attention_backward(read(Q), read(K), read(V), nullptr, read(O),
                             course::device::read_only(lse.row(kRows)), read(dO), delta.row(kRows),
                             written(dQ), written(dK), written(dV), nullptr, 1.0f, true, window, sinks);
  CUDA_CHECK(cudaDeviceSynchronize());
  return {dQ.values(), dK.values(), dV.values()};
}

std::vector<float> with_nan_rows(std::int64_t first) {
  std::vector<float> x(kRows * kDim, 0.0f);
  for (std::int64_t i = first * kDim; i < (first + kGroup) * kDim; ++i)
    x[static_cast<std::size_t>(i)] = std::numeric_limits<float>::quiet_NaN();
  return x;
}

int nan_rows(const std::vector<float>& x, std::int64_t first) {
  int count = 0;
  for (std::int64_t i = first; i < first + kGroup; ++i)
    count += std::isnan(x[static_cast<std::size_t>(i * kDim)]) ? 1 : 0;
  return count;
}

}  // namespace

int main(int, char** arguments) {
  const bool of_keys = arguments[1] == std::string("keys");  // the kernel of dK and dV, else that of dQ
  const std::int64_t window = std::atol(arguments[2]), sinks = std::atol(arguments[3]);
  const std::vector<float> zeros(kRows * kDim, 0.0f);
  std::vector<float> groups = zeros;  // dO
  for (std::int64_t i = 0; i < kRows; ++i) groups[static_cast<std::size_t>(i * kDim + i / kGroup)] = 1.0f;
  const std::vector<float> seen_by = backward(zeros, zeros, groups, window, sinks).dV;

  int loaded[kGroups][kGroups];  // of queries, of keys
  for (std::int64_t g = 0; g < kGroups; ++g) {
    const std::vector<float> marked = with_nan_rows(g * kGroup);
    const Gradients got = of_keys ? backward(marked, zeros, groups, window, sinks)
                                  : backward(zeros, marked, groups, window, sinks);
    for (std::int64_t other = 0; other < kGroups; ++other) {
      if (of_keys)
        loaded[g][other] = nan_rows(got.dK, other * kGroup);
      else
        loaded[other][g] = nan_rows(got.dQ, other * kGroup);
    }
  }
  std::printf("query,key,loaded,seen\n");
  for (std::int64_t i = 0; i < kGroups; ++i) {
    for (std::int64_t j = 0; j < kGroups; ++j) {
      long seen = 0;
      for (std::int64_t key = j * kGroup; key < (j + 1) * kGroup; ++key)
        seen += std::lround(seen_by[static_cast<std::size_t>(key * kDim + i)]);
      std::printf("%lld,%lld,%d,%ld\n", static_cast<long long>(i * kGroup),
                  static_cast<long long>(j * kGroup), loaded[i][j], seen);
    }
  }
}
