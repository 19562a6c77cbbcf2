#include "grading/testing/settings.hpp"

#include <string>
#include <vector>

#include "support/catch.hpp"

using Catch::Matchers::ContainsSubstring;
using course::grading::RunError;
using course::grading::Settings;

TEST_CASE("settings have the kinds that they are asked for, or their defaults") {
  Settings settings({{"window", "-4"}, {"scale", "0.5"}, {"causal", "true"}, {"sinks", "0"}});
  CHECK(settings.integer("window", 9) == -4);
  CHECK(settings.number("scale", 1) == 0.5);
  CHECK(settings.boolean("causal", false));
  CHECK_FALSE(settings.boolean("sinks", true));
  CHECK(settings.integer("other", 9) == 9);
  CHECK(settings.number("other", 1.5) == 1.5);
  CHECK(settings.boolean("other", true));
}

TEST_CASE("settings of the wrong kind are refused by name and value, as wrong usage") {
  Settings settings({{"window", "4.5"}, {"scale", ""}, {"causal", "yes"}});
  CHECK_THROWS_WITH(settings.integer("window", 9), "--set window=4.5: the value must be a whole number.");
  CHECK_THROWS_WITH(settings.number("scale", 1), "--set scale=: the value must be a number.");
  CHECK_THROWS_WITH(settings.boolean("causal", false), ContainsSubstring("must be true or false"));
  try {
    settings.integer("window", 9);
    FAIL("nothing was thrown");
  } catch (const RunError& error) {
    CHECK(error.usage());
  }
}

TEST_CASE("settings that nobody asked for are known") {
  Settings settings({{"a", "1"}, {"b", "2"}, {"c", "3"}});
  (void)settings.integer("b", 0);
  (void)settings.integer("d", 0);
  CHECK(settings.unused_settings() == std::vector<std::string>{"a", "c"});
}
