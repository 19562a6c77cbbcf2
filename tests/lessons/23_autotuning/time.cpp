#include "23_autotuning/time.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include "23_autotuning/configurations.hpp"
#include "23_autotuning/products.hpp"
#include "grading/testing/lesson_test.hpp"
#include "products/problem.hpp"
#include "tensor/float16.hpp"
#include "tensor/tensor.hpp"

namespace course::lesson_23 {

using namespace grading;
using namespace products;

void check_milliseconds(Type type, Random& random) {
  const std::size_t index = random_index(type, random);
  const Configuration& c = kCompiled[index];
  INFO("configuration " << text_of(c));
  const Problem p = in_type_of(c, random_problem(40, 40, 24));
  Tensor<float> C({40, 40}), larger_C({192, 192});
  Tensor<double> milliseconds({1});
  // Check mode takes another time, and would say that the call does something else there.
  const auto time = [&](const Problem& of, Tensor<float>& product, CallOptions options = {}) {
    options.check = CheckMode::never;
    const auto call_timed = [&](auto entry, const auto& A, const auto& B) {
      return call_with(options, entry, in(A, "A"), in(B, "B"), out(product, "C"), static_cast<int>(index),
                       host_out(milliseconds, "time"));
    };
    return type == Type::float32
               ? call_timed(ENTRY(call_milliseconds), of.A, of.B)
               : call_timed(ENTRY(call_milliseconds_bfloat16), of.A.to<bfloat16>(), of.B.to<bfloat16>());
  };
  const Outcome outcome = time(p, C);
  require_ran(outcome);
  const double measured = milliseconds(0);
  require(measured > 0 && measured < 1e6,
          "milliseconds() did not return a time: it is 0, negative or no number.");
  const std::int64_t launches = outcome.counters.at("launches");
  require(
      launches == 1 + kRepetitions,
      fmt::format("The kernel was launched {} times; once that does not count and kRepetitions times that "
                  "do make {}.",
                  launches, 1 + kRepetitions));
  require_product(C, p, c);
  // What matmul_with() refuses is not timed.
  Problem wrong = p;
  wrong.B = Tensor<float>({25, 40}, 1.0f);
  require_throws<std::invalid_argument>(time(wrong, C), "B");
  if (type == Type::bfloat16)
    require_throws<std::invalid_argument>(time(random_problem(40, 40, 24, row_major, column_major), C), "B");
  // A machine that is busy with something else may measure anything, but not three times; and on a large GPU,
  // a launch takes as long as the shorter of these products.
  double of_larger = 0;
  int k = 0;
  for (const int length : {256, 256, 2048}) {
    k = length;
    require_ran(time(in_type_of(c, random_problem(192, 192, k)), larger_C));
    of_larger = milliseconds(0);
    if (of_larger > measured) break;
  }
  require(of_larger > measured,
          fmt::format(
              "milliseconds() returned {:.3g} for a product of 40 x 40 with K = 24, and {:.3g} for one of "
              "192 x 192 with K = {}, which takes longer.",
              measured, of_larger, k));
  CallOptions one_block;
  one_block.max_grid_x = 1;
  Tensor<float> of_blocks({272, 40});  // of each of the kernels, more than one
  require_refused_launch(time(in_type_of(c, random_problem(272, 40, 24)), of_blocks, one_block));
}

}  // namespace course::lesson_23
