#include "grading/project/lesson.hpp"

#include <string>
#include <vector>

#include "support/catch.hpp"

using namespace course::grading;

namespace {

Lesson lesson(int number, const std::string& name) {
  Lesson result;
  result.number = number;
  result.name = name;
  return result;
}

std::vector<std::string> picked(const std::vector<std::string>& selectors) {
  const std::vector<Lesson> lessons{lesson(1, "vector_add"), lesson(2, "reduction"),
                                    lesson(9, "flash2_forward"), lesson(10, "flash2_backward")};
  std::vector<std::string> ids;
  for (const Lesson& found : select_lessons(lessons, selectors)) ids.push_back(found.id());
  return ids;
}

using Ids = std::vector<std::string>;

}  // namespace

TEST_CASE("names lessons by number, name, folder, range or all", "[cli][lesson]") {
  CHECK(picked({"9"}) == Ids{"09_flash2_forward"});
  CHECK(picked({"09"}) == Ids{"09_flash2_forward"});
  CHECK(picked({"flash2_forward"}) == Ids{"09_flash2_forward"});
  CHECK(picked({"lessons/10_flash2_backward/"}) == Ids{"10_flash2_backward"});
  CHECK(picked({"2-9"}) == Ids{"02_reduction", "09_flash2_forward"});
  CHECK(picked({"all"}).size() == 4);
}

TEST_CASE("gives each lesson once, in order", "[cli][lesson]") {
  CHECK(picked({"10", "1-2", "reduction", "1"}) ==
        Ids{"01_vector_add", "02_reduction", "10_flash2_backward"});
}

TEST_CASE("an unknown lesson comes with those of a similar name", "[cli][lesson]") {
  CHECK_THROWS_WITH(picked({"redution"}), Catch::Matchers::ContainsSubstring("Did you mean 02_reduction?"));
  CHECK_THROWS_WITH(picked({"flash2"}), Catch::Matchers::ContainsSubstring(
                                            "Did you mean 09_flash2_forward, 10_flash2_backward?"));
  CHECK_THROWS_WITH(picked({"zzzz"}), !Catch::Matchers::ContainsSubstring("Did you mean"));
  CHECK_THROWS_WITH(picked({"zzzz"}),
                    Catch::Matchers::ContainsSubstring("from 01_vector_add to 10_flash2_backward"));
}

TEST_CASE("what is no name of a lesson is refused", "[cli][lesson]") {
  for (const char* selector :
       {"", "3", "3-8", "9-2", "1-", "-1", "1.0", "01_reduction", "99999999999999999999"}) {
    CAPTURE(selector);
    CHECK_THROWS_AS(picked({selector}), UnknownLesson);
  }
}
