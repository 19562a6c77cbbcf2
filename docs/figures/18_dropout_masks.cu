// Which weights the kernels of lesson 18's solution drop: scripts/figure_dropout.py --measure joins this to
// it.
//
// All scores are 0, so that every weight is the same, and with V, dO or K as the identity the weights stand
// in the results: O is P ∘ Z, dV is (P ∘ Z)ᵀ, and dQ = P ∘ (Z - delta), which is negative where Z is 0.

#include <string>

#include "attention_tiles.hpp"

namespace {

constexpr std::int64_t kRows = 128;  // queries, keys and dimensions
constexpr float kDropout = 0.25f;
constexpr std::uint64_t kSeed = 1;

using course::figures::OnDevice;

/// Two heads.
struct Heads : OnDevice {
  explicit Heads(const std::vector<float>& values) : OnDevice(values) {}
  template <class T>
  course::View<T, 4> matrices() const {
    course::View<T, 4> view = matrix<T>(kRows, kRows);
    view.shape[1] = 2;
    return view;
  }
  course::View<float, 3> rows() const {
    course::View<float, 3> view = row(kRows);
    view.shape[1] = 2;
    return view;
  }
};

std::vector<float> filled(float off_diagonal, float diagonal) {
  std::vector<float> x(2 * kRows * kRows, off_diagonal);
  for (std::int64_t n = 0; n < 2 * kRows; ++n) x[static_cast<std::size_t>(n * kRows + n % kRows)] = diagonal;
  return x;
}

/// One line for each query of a head: a letter for each key, x where its weight is dropped.
void print_dropped(const char* kernel, const std::vector<float>& x, std::int64_t head, bool transposed) {
  for (std::int64_t i = 0; i < kRows; ++i) {
    std::string line;
    for (std::int64_t j = 0; j < kRows; ++j) {
      const std::int64_t at = transposed ? j * kRows + i : i * kRows + j;
      line += x[static_cast<std::size_t>(head * kRows * kRows + at)] > 0.0f ? '.' : 'x';
    }
    std::printf("%s,%lld,%lld,%s\n", kernel, static_cast<long long>(head), static_cast<long long>(i),
                line.c_str());
  }
}

}  // namespace

int main() {
  const std::int64_t everything = INT64_MAX;
  const Heads zeros(filled(0, 0)), ones(filled(1, 1)), identity(filled(0, 1));
  const Heads O(filled(0, 0)), delta(filled(0, 0)), lse(filled(0, 0)), dQ(filled(0, 0)), dK(filled(0, 0)),
      dV(filled(0, 0));
  const auto read = [](const Heads& x) { return x.matrices<const float>(); };
  course::attention_forward(read(zeros), read(identity), read(identity), nullptr, O.matrices<float>(),
                            lse.rows(), 1.0f, false, everything, 0, kDropout, kSeed);
  CUDA_CHECK(cudaDeviceSynchronize());
  const std::vector<float> forward = O.values();
  course::attention_forward(read(zeros), read(identity), read(ones), nullptr, O.matrices<float>(), lse.rows(),
                            1.0f, false, everything, 0, kDropout, kSeed);
  course::attention_backward(read(zeros), read(identity), read(ones), nullptr, read(O),
                             course::device::read_only(lse.rows()), read(identity), delta.rows(),
                             dQ.matrices<float>(), dK.matrices<float>(), dV.matrices<float>(), nullptr, 1.0f,
                             false, everything, 0, kDropout, kSeed);
  CUDA_CHECK(cudaDeviceSynchronize());
  std::printf("kernel,head,query,keys\n");
  print_dropped("O", forward, 0, false);
  print_dropped("dV", dV.values(), 0, true);
  print_dropped("dQ", dQ.values(), 0, false);
  print_dropped("O", forward, 1, false);
}
