// Measures lesson 14 on a GPU: the gradients of a matrix product and of a softmax, as JSON.
// Built with the kernel that is to be measured; docs/results/README.md has the commands.

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <exception>

#include "14_gradients/gradients.hpp"
#include "bench/benchmark.hpp"

namespace {

using namespace course::bench;
using course::View;

template <class T>
View<T, 2> row_major(T* data, std::int64_t rows, std::int64_t cols) {
  return {data, {rows, cols}, {cols, 1}};
}

/// Both gradients of a product of square matrices; each is a product of as many operations.
void measure_matmul(std::int64_t n) {
  const Shape shape = Shape().size("M", n).size("N", n).size("K", n);
  const double elements = static_cast<double>(n) * static_cast<double>(n), bytes = 5 * 4 * elements;
  if (!wanted("matmul_backward", shape) || !fits("matmul_backward", shape, bytes)) return;
  DeviceArray X(n * n, 1), W(n * n, 2), dY(n * n, 3), dX(n * n, 4), dW(n * n, 5);
  const Timing timing = time_calls(
      [&] {
        course::matmul_backward(
            row_major<const float>(X.data(), n, n), row_major<const float>(W.data(), n, n),
            row_major<const float>(dY.data(), n, n), row_major(dX.data(), n, n), row_major(dW.data(), n, n));
      },
      n > 5000 ? 7 : kRepetitions);
  record("matmul_backward", shape, timing, 4 * elements * static_cast<double>(n), bytes);
}

/// Of an element: a product and a sum for the row, then a difference and a product.
void measure_softmax(DeviceArray& P, DeviceArray& dP, DeviceArray& dS, std::int64_t elements,
                     std::int64_t cols) {
  const std::int64_t rows = elements / cols;
  const Shape shape = Shape().size("rows", rows).size("cols", cols);
  if (!wanted("softmax_backward", shape)) return;
  const Timing timing = time_calls([&] {
    course::softmax_backward(row_major<const float>(P.data(), rows, cols),
                             row_major<const float>(dP.data(), rows, cols), row_major(dS.data(), rows, cols));
  });
  const double n = static_cast<double>(elements);
  record("softmax_backward", shape, timing, 4 * n, 12 * n);
}

}  // namespace

int main(int argc, char** argv) try {
  read_options(argc, argv);
  begin_json(14, copy_gigabytes_per_second());
  for (const std::int64_t n : {1024, 2048, 4096, 8192}) measure_matmul(n);
  const std::int64_t elements = elements_that_fit(3);
  DeviceArray P(elements, 1), dP(elements, 2), dS(elements, 3);
  for (const std::int64_t cols : {256, 1024, 4096, 16384}) measure_softmax(P, dP, dS, elements, cols);
  end_json();
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
