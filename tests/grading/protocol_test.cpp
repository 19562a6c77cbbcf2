#include "grading/protocol.hpp"

#include <string>
#include <vector>

#include "grading/channel.hpp"
#include "support/catch.hpp"

using namespace course::grading;

TEST_CASE("a call survives the wire") {
  CallMessage call;
  call.id = 7;
  call.library = "/tmp/a \"b\".so";
  call.entry = "vector_add";
  call.signature = "FvPKfE";
  call.arguments = {{{std::byte{0}, std::byte{255}, std::byte{16}}, {}}, {std::vector<std::byte>(8), 1}};
  call.arrays = {{Place::device, 0, 4096, 64, {}}, {Place::host, 4096, 8192, 64, 12}};
  call.input_bytes = 12288;
  call.output_bytes = 8192;
  call.order = Order::random;
  call.seed = ~std::uint64_t{0};
  call.max_grid_x = 9;
  call.launch_seconds = 0.5;
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
  CHECK(copy.arrays.at(1).result == 12U);
  CHECK(copy.input_bytes == 12288);
  CHECK(copy.output_bytes == 8192);
  CHECK(copy.order == Order::random);
  CHECK(copy.seed == ~std::uint64_t{0});
  CHECK(copy.max_grid_x == 9);
  CHECK(copy.launch_seconds == 0.5);
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
    reply.outcome.diagnostics.push_back({"race", "kernel.cu", 3, std::string(900, 'm')});
  const std::string text = encode(reply);
  CHECK(text.size() <= kMaxMessageBytes);
  CHECK(decode_reply(text).outcome.leak_count == 100000);
}

TEST_CASE("what is not a reply is not taken for one") {
  for (const std::string text : {"", "passed", "{}", "[]", "null", "{\"id\":1}", "{\"status\":\"returned\"}"})
    CHECK_THROWS(decode_reply(text));
  std::string wrong_type = encode(ReplyMessage{});
  wrong_type.replace(wrong_type.find("\"id\":0"), 6, "\"id\":\"x\"");
  CHECK_THROWS(decode_reply(wrong_type));
}
