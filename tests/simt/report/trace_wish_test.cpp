#include "simt/report/trace_wish.hpp"

#include <cstdlib>
#include <stdexcept>

#include "support/catch.hpp"

using namespace simt::report;

TEST_CASE("a place to trace is four or five numbers", "[report][trace]") {
  simt::TraceRequest request = parse_trace_place("3,1,2,0");
  CHECK(request.launch == 3);
  CHECK(request.block == std::array<unsigned, 3>{1, 2, 0});
  CHECK(request.warp == -1);
  request = parse_trace_place("0,0,0,0,31");
  CHECK(request.warp == 31);
  for (const char* wrong : {"", "1", "0,0,0", "0,0,0,0,", ",0,0,0,0", "0,0,0,0,32", "0,0,0,0,0,0", "a,0,0,0",
                            "-1,0,0,0", "0, 0,0,0", "0,0,0,0 ", "0;0;0;0", "99999999999,0,0,0"}) {
    INFO(wrong);
    CHECK_THROWS_AS(parse_trace_place(wrong), std::invalid_argument);
  }
}

TEST_CASE("the environment asks for a trace with SIMT_TRACE", "[report][trace]") {
  unsetenv("SIMT_TRACE");
  setenv("SIMT_TRACE_AT", "1,2,3,4,5", 1);
  CHECK_FALSE(trace_wish());
  setenv("SIMT_TRACE", "trace.json", 1);
  REQUIRE(trace_wish());
  CHECK(trace_wish()->file == std::filesystem::current_path() / "trace.json");
  CHECK(trace_wish()->request.warp == 5);
  unsetenv("SIMT_TRACE_AT");
  CHECK(trace_wish()->request.launch == 0);
  CHECK(trace_wish()->request.warp == -1);
  CHECK(trace_wish()->request.most_steps == simt::TraceRequest{}.most_steps);
  setenv("SIMT_TRACE_STEPS", "25", 1);
  CHECK(trace_wish()->request.most_steps == 25);
  for (const char* wrong : {"0", "-1", "many", "1,2"}) {
    INFO(wrong);
    setenv("SIMT_TRACE_STEPS", wrong, 1);
    CHECK_THROWS_AS(trace_wish(), std::invalid_argument);
  }
  unsetenv("SIMT_TRACE_STEPS");
  unsetenv("SIMT_TRACE");
}
