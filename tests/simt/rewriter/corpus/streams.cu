// Streams, lambdas within lambdas, launches in comma expressions, conditional operators and constructors.
#include <cuda_runtime.h>

#include <array>
#include <functional>
#include <vector>

__global__ void step(float* x, int n, float dt) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += dt;
}

class Pipeline {
 public:
  explicit Pipeline(float* x, int n) : x_(x), n_((step<<<1, 32>>>(x, n, 0.f), n)) {
    for (auto& stream : streams_) cudaStreamCreate(&stream);
  }
  ~Pipeline() { for (auto& stream : streams_) cudaStreamDestroy(stream); }

  void run(const std::vector<float>& times) {
    int turn = 0;
    for (const float dt : times)
      step<<<blocks(), 32, 0, streams_[turn++ % streams_.size()]>>>(x_, n_, dt);
    const auto each = [this](auto&& action) { for (auto& s : streams_) action(s); };
    each([&](cudaStream_t s) { step<<<[&] { return n_ > 32 ? blocks() : 1u; }(), 32, 0, s>>>(x_, n_, [] { return .5f; }()); });
    n_ > 0 ? step<<<1, 32>>>(x_, n_, 1.f) : step<<<2, 32>>>(x_, n_, 2.f);
    step<<<1, 32>>>(x_, n_, 1.f), step<<<1, 32>>>(x_, n_, 2.f);
    std::vector<std::function<void()>> later;
    later.push_back([=, x = x_, n = n_] { step<<<1, 32, 0, cudaStream_t{}>>>(x, n, 3.f); });
    if (later.size() >> 1 << 1 < 4 && n_ > 3) later.front()();
  }

 private:
  unsigned blocks() const { return static_cast<unsigned>(n_ + 31) >> 5; }
  float* x_;
  int n_;
  std::array<cudaStream_t, 4> streams_{};
};

void run(float* x) { Pipeline(x, 100).run({1, 2, 3}); }
