#include "grading/calls/protocol.hpp"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "grading/calls/channel.hpp"
#include "support/catch.hpp"
#include "support/findings.hpp"

using namespace course::grading;
namespace test = course::test;

TEST_CASE("a call survives the wire") {
  CallMessage call;
  call.id = 7;
  call.library = "/tmp/a \"b\".so";
  call.entry = "vector_add";
  call.signature = "FvPKfE";
  call.arguments = {{{std::byte{0}, std::byte{255}, std::byte{16}}, {}}, {std::vector<std::byte>(8), 1}};
  call.arrays = {{Place::device, 0, 4096, 64, 400, 4, false, {}},
                 {Place::host, 4096, 8192, 64, 800, 0, true, 12}};
  call.input_bytes = 12288;
  call.output_bytes = 8192;
  call.order = Order::random;
  call.seed = ~std::uint64_t{0};
  call.max_grid_x = 9;
  call.max_memory_bytes = 5000;
  call.launch_seconds = 0.5;
  call.check = true;
  call.bare = call.fenced = call.host_first = true;
  call.answers = {{std::byte{1}, std::byte{0xfe}}, {}};
  const CallMessage copy = decode_call(encode(call));
  CHECK(copy.id == 7);
  CHECK(copy.library == call.library);
  CHECK(copy.entry == call.entry);
  CHECK(copy.signature == call.signature);
  CHECK(copy.arguments.at(0).bytes == call.arguments[0].bytes);
  CHECK_FALSE(copy.arguments.at(0).array);
  CHECK(copy.arguments.at(1).array == 1U);
  CHECK(copy.arrays.at(0).place == Place::device);
  CHECK_FALSE(copy.arrays.at(0).result);
  CHECK(copy.arrays.at(1).place == Place::host);
  CHECK(copy.arrays.at(1).offset == 4096);
  CHECK(copy.arrays.at(1).bytes == 8192);
  CHECK(copy.arrays.at(1).data == 64);
  CHECK(copy.arrays.at(0).shift == 4);
  CHECK(copy.arrays.at(1).shift == 0);
  CHECK(copy.arrays.at(0).data_bytes == 400);
  CHECK_FALSE(copy.arrays.at(0).filled);
  CHECK(copy.arrays.at(1).filled);
  CHECK(copy.arrays.at(1).result == 12U);
  CHECK(copy.input_bytes == 12288);
  CHECK(copy.output_bytes == 8192);
  CHECK(copy.order == Order::random);
  CHECK(copy.seed == ~std::uint64_t{0});
  CHECK(copy.max_grid_x == 9);
  CHECK(copy.max_memory_bytes == 5000);
  CHECK(copy.launch_seconds == 0.5);
  CHECK(copy.check);
  CHECK(copy.fenced);
  CHECK(copy.host_first);
  CHECK(copy.answers == call.answers);
}

TEST_CASE("an answer survives the wire, an empty one too") {
  ReplyMessage reply;
  CHECK_FALSE(decode_reply(encode(reply)).answer);
  for (const std::vector<std::byte>& answer :
       {std::vector<std::byte>{}, std::vector<std::byte>(3, std::byte{200})}) {
    reply.answer = answer;
    CHECK(decode_reply(encode(reply)).answer == answer);
  }
}

TEST_CASE("every status survives the wire") {
  for (const Status status : {Status::returned, Status::threw, Status::cuda_error, Status::fault,
                              Status::timeout, Status::died, Status::refused}) {
    ReplyMessage reply;
    reply.outcome.status = status;
    CHECK(decode_reply(encode(reply)).outcome.status == status);
  }
}

TEST_CASE("a reply fits one message, whatever it holds") {
  ReplyMessage reply;
  reply.outcome.message = std::string(std::size_t{1} << 20, '\xff');
  reply.outcome.exception_message = std::string(std::size_t{1} << 20, '\x01');
  for (int i = 0; i < 100000; ++i) reply.outcome.leaks.push_back({1, "kernel.cu", 3});
  reply.outcome.leak_count = 100000;
  for (int i = 0; i < 1000; ++i)
    reply.outcome.findings.push_back(test::finding("race", 3, Severity::error, std::string(900, 'm')));
  const std::string text = encode(reply);
  CHECK(text.size() <= kMaxMessageBytes);
  CHECK(decode_reply(text).outcome.leak_count == 100000);
}

TEST_CASE("a finding and a profile survive the wire") {
  ReplyMessage reply;
  Finding finding = test::finding("race", 31, Severity::warning, "Two threads.");
  finding.here.block = {1, 2, 3};
  finding.here.thread = {4, 5, 6};
  finding.other.file = "other.cuh";
  finding.other.line = 7;
  finding.kernel = "copy_kernel";
  finding.called_from = "kernel.cu:2";
  finding.memory = "shared";
  finding.element = "tile[3][5]";
  finding.rule = "A rule.";
  finding.fix = "A fix.";
  finding.count = 12;
  finding.tool = "racecheck";
  finding.unprinted = true;
  reply.outcome.findings = {finding};
  simt::LaunchProfile launch;
  launch.kernel = "copy_kernel";
  launch.grid = {2, 1, 1};
  launch.block = {64, 1, 1};
  launch.total.global_load.sectors = 16;
  launch.total.barriers = 4;
  launch.lines = {{"kernel.cu", 31, launch.total}};
  reply.outcome.profile = make_profile({launch, launch});
  const Outcome copy = decode_reply(encode(reply)).outcome;
  REQUIRE(copy.findings.size() == 1);
  CHECK(finding_to_json(copy.findings[0]) == finding_to_json(finding));
  CHECK(copy.findings[0].message() == finding.message());
  CHECK(copy.findings[0].other.line == 7);
  REQUIRE(copy.profile);
  CHECK(copy.profile->global_load.sectors == 32);
  CHECK(copy.profile->barriers == 8);
  CHECK(launches_to_json(copy.profile->launches) == launches_to_json({launch, launch}));
}

TEST_CASE("a reply with more findings than it holds leaves out notes before errors") {
  ReplyMessage reply;
  for (int line = 1; line <= 12; ++line)
    reply.outcome.findings.push_back(test::finding("same_value_write", line, Severity::note, "A note."));
  reply.outcome.findings.push_back(test::finding("race", 13, Severity::error, "A race."));
  const std::vector<Finding> told = decode_reply(encode(reply)).outcome.findings;
  REQUIRE(told.size() == 12);
  CHECK(told[0].kind == "race");
  CHECK(told[1].here.line == 1);
}

TEST_CASE("a profile that is too long for one message loses its lines, then goes") {
  simt::LaunchProfile launch;
  launch.total.shuffles = 3;
  for (int line = 1; line < 5000; ++line) launch.lines.push_back({"kernel.cu", line, launch.total});
  ReplyMessage reply;
  reply.outcome.profile = make_profile({launch, launch});
  const std::string text = encode(reply);
  CHECK(text.size() <= kMaxMessageBytes);
  const Outcome copy = decode_reply(text).outcome;
  REQUIRE(copy.profile);
  CHECK(copy.profile->shuffles == 6);
  CHECK(copy.profile->launches.at(1).lines.empty());
  launch.lines.clear();
  reply.outcome.profile = make_profile(std::vector<simt::LaunchProfile>(5000, launch));
  CHECK(encode(reply).size() <= kMaxMessageBytes);
  CHECK_FALSE(decode_reply(encode(reply)).outcome.profile);
}

TEST_CASE("counters that no launch has are not taken for a reply's") {
  const auto decoded = [](std::int64_t launches, std::int64_t blocks, std::int64_t threads) {
    ReplyMessage reply;
    reply.outcome.counters = {{"launches", launches}, {"blocks", blocks}, {"threads", threads}};
    return decode_reply(encode(reply)).outcome.counters.at("threads");
  };
  CHECK(decoded(1, 2, 512) == 512);
  CHECK(decoded(0, 0, 0) == 0);
  CHECK_THROWS(decoded(1, 0, 256));
  CHECK_THROWS(decoded(1, 2, 1));
  CHECK_THROWS(decoded(1, 2, -512));
}

TEST_CASE("what is not a reply is not taken for one") {
  for (const std::string text : {"", "passed", "{}", "[]", "null", "{\"id\":1}", "{\"status\":\"returned\"}"})
    CHECK_THROWS(decode_reply(text));
  std::string wrong_type = encode(ReplyMessage{});
  wrong_type.replace(wrong_type.find("\"id\":0"), 6, "\"id\":\"x\"");
  CHECK_THROWS(decode_reply(wrong_type));
}

TEST_CASE("what the host moved survives the wire") {
  ReplyMessage reply;
  reply.moves = {{0, 2}, {1}, 4000, 64, 128};
  CHECK(decode_reply(encode(reply)).moves == reply.moves);
}

TEST_CASE("a reply with more than a worker tells is not taken for one") {
  ReplyMessage reply;
  reply.outcome.counters = {{"launches", 1}, {"blocks", 1}, {"threads", 32}, {kCopiedWithin, 40}};
  CHECK(decode_reply(encode(reply)).outcome.counters == reply.outcome.counters);
  reply.outcome.counters["made_up"] = 1;
  CHECK_THROWS(decode_reply(encode(reply)));
  reply.outcome.counters = {
      {"launches", 1}, {"blocks", std::int64_t{1} << 60}, {"threads", std::int64_t{1} << 60}};
  CHECK_THROWS(decode_reply(encode(reply)));
}
