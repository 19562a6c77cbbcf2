// Calls that must not compile, one for each value of COURSE_WRONG_CALL; CMakeLists.txt holds what the
// compiler must say. Call 0 is right.
#include <cstdint>

#include "grading/testing/call.hpp"

namespace course {
void add(const float* a, float* c, std::int64_t n);
void scale(View<const float, 2> x, float by);
}  // namespace course

using namespace course;
using namespace course::grading;

Outcome wrong_call(Tensor<float>& floats, [[maybe_unused]] Tensor<double>& doubles) {
#if COURSE_WRONG_CALL == 0
  return call(ENTRY(add), in(floats), out(floats), 3);
#elif COURSE_WRONG_CALL == 1
  return call(ENTRY(add), in(floats), in(floats), 3);
#elif COURSE_WRONG_CALL == 2
  return call(ENTRY(add), out(floats), out(floats), 3);
#elif COURSE_WRONG_CALL == 3
  return call(ENTRY(add), in(doubles), out(floats), 3);
#elif COURSE_WRONG_CALL == 4
  return call(ENTRY(add), in(floats), out(floats), 3.5);
#elif COURSE_WRONG_CALL == 5
  return call(ENTRY(add), in(floats), out(floats));
#elif COURSE_WRONG_CALL == 6
  return call(ENTRY(add), 3, out(floats), 3);
#elif COURSE_WRONG_CALL == 7
  return call(ENTRY(scale), host_in(floats), 3);
#elif COURSE_WRONG_CALL == 8
  return call(ENTRY(scale), in(floats), in(floats));
#elif COURSE_WRONG_CALL == 9
  return call(ENTRY(add), in(floats), out(floats), null());
#endif
}
