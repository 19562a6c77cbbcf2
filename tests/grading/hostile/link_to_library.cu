// hostile: Uses a function that no library of the course has, hoping that the loader finds it later.
// lesson: 01
// verdict: not_compiled
// says: defined nowhere
// trick: compile

#include "vector_add.hpp"
extern "C" int course_grade(int);
namespace course {
void vector_add(const float*, const float*, float*, std::int64_t) { course_grade(24); }
void vector_add_host(const float*, const float*, float*, std::int64_t) { course_grade(24); }
}  // namespace course
