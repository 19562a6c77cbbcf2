#include "grading/base/demangle.hpp"

#include <string>

#include "support/catch.hpp"

using course::grading::demangle;

TEST_CASE("a name is told as its source has it, and what is none stays") {
  CHECK(demangle("_ZN6course7softmaxEPKf") == "course::softmax(float const*)");
  CHECK(demangle("softmax") == "softmax");
}

TEST_CASE("a name that doubles with each of its parameters stays as it is") {
  std::string name = "_Z1f1PIiiE";
  for (const char part : std::string("_0123456789ABCDEFGHIJKLMNOPQRST")) {
    const std::string whole = part == '_' ? "S_" : std::string("S") + part + "_";
    name += "S0_" + whole + whole;
  }
  CHECK(demangle(name.c_str()) == name);
}
