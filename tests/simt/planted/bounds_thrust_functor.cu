// The functor reads the right neighbour of every element, and the last one has none.
// expect: out_of_bounds at A

#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/for_each.h>
#include <thrust/iterator/counting_iterator.h>

#include <cstdio>

struct AddNeighbour {
  float* x;
  __device__ void operator()(int i) const {
    x[i] += x[i + 1];  // A
  }
};

int main() {
  thrust::device_vector<float> x(100, 1.0f);
  const thrust::counting_iterator<int> first(0);
  thrust::for_each(thrust::device, first, first + 100, AddNeighbour{thrust::raw_pointer_cast(x.data())});
  std::printf("%g\n", static_cast<float>(x[0]));
}
