#include "simt/report/json.hpp"

#include <nlohmann/json.hpp>

#include "samples.hpp"
#include "support/catch.hpp"

using namespace simt::report;

TEST_CASE("a finding's JSON has every field", "[report][json]") {
  CHECK(to_json(samples::race()) == Json::parse(R"({
    "class": "race", "severity": "error", "kernel": "transpose",
    "file": "transpose.cu", "line": 6, "block": [0, 0, 0], "thread": [1, 0, 0],
    "calls": [],
    "other": {"file": "transpose.cu", "line": 4, "block": [0, 0, 0], "thread": [0, 1, 0], "calls": []},
    "headline": {"file": "transpose.cu", "line": 6, "function": "", "text": ""},
    "called_from": null, "waiting": [], "memory": "shared", "element": "tile[1][0]",
    "what": "thread (1,0,0) reads tile[1][0] while thread (0,1,0) writes it at line 4.",
    "rule": "Nothing orders the two.", "fix": "Put __syncthreads() between them.",
    "message": "transpose.cu:6: error: race: thread (1,0,0) reads tile[1][0] while thread (0,1,0) writes it at line 4. Nothing orders the two. Put __syncthreads() between them.",
    "count": 992})"));
  simt::Finding alone = samples::race();
  alone.other = {};
  CHECK(to_json(alone)["other"].is_null());
  alone.called_from = "kernel.cu:12";
  CHECK(to_json(alone)["called_from"] == "kernel.cu:12");
  CHECK(alone.message().find(" Called from kernel.cu:12. Nothing orders the two.") != std::string::npos);
}

TEST_CASE("a finding in a helper has the calls that led there, and the program's own line in front",
          "[report][json]") {
  const Json json = to_json(samples::race_in_helper());
  CHECK(json["line"] == 88);
  CHECK(
      json["calls"] ==
      Json::parse(R"([{"file": "device/tile.hpp", "line": 88, "function": "load_tile", "text": "to[i] = x;"},
                        {"file": "transpose.cu", "line": 6, "function": "transpose", "text": "load_tile(x, tile);"}])"));
  CHECK(json["headline"] == json["calls"][1]);
  CHECK(json["called_from"] == "transpose.cu:6");
  CHECK(json["message"].get<std::string>().starts_with(
      "transpose.cu:6: error: race: in load_tile() (tile.hpp:88), "));
}

TEST_CASE("a finding in a function of the program's own says who called it", "[report][json]") {
  simt::Finding finding = samples::race();
  finding.here.calls = {{"transpose.cu", 6, "store", ""}, {"transpose.cu", 12, "transpose", ""}};
  CHECK(finding.message().find(" Line 6 was called from transpose.cu:12. Nothing") != std::string::npos);
  finding.other = {};
  CHECK(finding.message().find(" Called from transpose.cu:12. Nothing") != std::string::npos);
  finding.here.calls.erase(finding.here.calls.begin());  // the kernel itself
  finding.here.line = 12;
  CHECK(finding.message().find("Called") == std::string::npos);
}

TEST_CASE("a deadlock has everybody who waits", "[report][json]") {
  simt::Finding finding = samples::race();
  finding.waiting = {{finding.here, false, {{0, 0xffffu}}, 0xffff0000u},
                     {finding.other, true, {{0, 0xffff0000u}}}};
  const Json waiting = to_json(finding)["waiting"];
  REQUIRE(waiting.size() == 2);
  CHECK(waiting[0]["line"] == 6);
  CHECK(waiting[0]["threads"] == Json::parse(R"([{"warp": 0, "lanes": 65535}])"));
  CHECK(waiting[0]["awaited"] == 0xffff0000u);
  CHECK(waiting[0]["barrier"] == false);
  CHECK(waiting[1]["barrier"] == true);
}

TEST_CASE("a report has every launch, one a line", "[report][json]") {
  const std::string text = report_json({samples::race()}, {samples::transpose(), samples::transpose()});
  CHECK(std::count(text.begin(), text.end(), '\n') == 8);
  const Json report = Json::parse(text);
  CHECK(report["version"] == 1);
  CHECK(report["findings"].size() == 1);
  REQUIRE(report["launches"].size() == 2);
  const Json& launch = report["launches"][0];
  CHECK(launch["kernel"] == "transpose");
  CHECK(launch["block"] == Json({32, 32, 1}));
  CHECK(launch["total"]["shared_load"]["conflicts"] == 992);
  CHECK(launch["total"]["barriers"] == 32);
  CHECK(launch["lines"][2]["line"] == 6);
  CHECK(launch["lines"][2]["counters"]["global_store"]["sectors"] == 1024);
}

TEST_CASE("an empty report is valid JSON", "[report][json]") {
  const Json report = Json::parse(report_json({}, {}));
  CHECK(report["findings"].empty());
  CHECK(report["launches"].empty());
}

TEST_CASE("what is not UTF-8 is replaced", "[report][json]") {
  simt::Finding finding = samples::race();
  finding.what = "caf\xe9";
  CHECK_NOTHROW(Json::parse(report_json({finding}, {})));
}

TEST_CASE("a trace has one array and one step a line", "[report][json]") {
  simt::Trace trace;
  trace.request.block = {1, 2, 0};
  trace.kernel = "copy";
  trace.grid = {4, 4, 1};
  trace.block_shape = {32, 1, 1};
  simt::TraceStep load;
  load.kind = "load";
  load.memory = "global";
  load.array = "in";
  load.bytes = 4;
  load.file = "copy.cu";
  load.line = 3;
  load.sectors = 1;
  load.active = 2;
  load.lanes = {{.lane = 1, .thread = {1, 0, 0}, .offset = 132, .index = {33}, .address = 388}};
  trace.steps = {load};
  trace.arrays = {{.name = "in", .address = 256, .element_bytes = 4, .shape = {8, 9}, .strides = {9, 1}}};
  CHECK(
      trace_json(trace) ==
      R"({"version":1,"request":{"launch":0,"block":[1,2,0],"warp":-1,"most_steps":10000},"kernel":"copy",)"
      R"("grid":[4,4,1],"block_shape":[32,1,1],"complete":true,
"arrays":[
{"name":"in","address":256,"element_bytes":4,"shape":[8,9],"strides":[9,1]}
],
"steps":[
{"warp":0,"kind":"load","memory":"global","array":"in","bytes":4,"file":"copy.cu","line":3,"sectors":1,)"
      R"("wavefronts":0,"active":2,"lanes":[{"lane":1,"thread":[1,0,0],"index":[33],"offset":132,"address":388}]}
]}
)");
}
