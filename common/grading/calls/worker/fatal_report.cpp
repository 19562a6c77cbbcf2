#include "grading/calls/worker/fatal_report.hpp"

#include <sys/socket.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdio>

namespace course::grading {
namespace {

std::atomic<int> report_channel{-1};
std::atomic<std::uint64_t> report_call{0};

/// A text as the inside of a JSON string. Control characters become spaces; bytes past ASCII, question marks.
template <std::size_t kSize>
const char* quoted(std::array<char, kSize>& buffer, const char* text) {
  std::size_t used = 0;
  for (; text && *text && used + 3 < kSize; ++text) {
    const auto c = static_cast<unsigned char>(*text);
    if (c == '"' || c == '\\') buffer[used++] = '\\';
    buffer[used++] = c < 0x20 ? ' ' : c < 0x7F ? *text : '?';
  }
  buffer[used] = '\0';
  return buffer.data();
}

// Static: the crash may be an exhausted stack.
std::array<char, 2048> message_text;
std::array<char, 512> file_text;
std::array<char, 64> kind_text;
std::array<char, 6144> reply_text;

}  // namespace

void watch_fatal(int channel, std::uint64_t call) {
  report_call = call;
  report_channel = channel;
}

void report_fatal(const char* kind, const char* message, const char* file, int line) {
  const int channel = report_channel.exchange(-1);  // a crash while reporting must not report again
  if (channel < 0) return;
  quoted(message_text, message);
  const int length = std::snprintf(
      reply_text.data(), reply_text.size(),
      R"({"id":%llu,"ready":false,"running":false,"unusable":false,"copied":false,"reusable":false,)"
      R"("moves":{"read":[],"filled":[],"to_host":0,"shared":0,"asked":0,"variables":0},"status":"fault",)"
      R"("message":"%s",)"
      R"("exception_type":"","exception_message":"","exception_bases":[],"leaks":[],"leak_count":0,"leak_bytes":0,)"
      R"("findings":[{"class":"%s","file":"%s","line":%d,"what":"%s"}],"counters":{}})",
      static_cast<unsigned long long>(report_call.load()), message_text.data(), quoted(kind_text, kind),
      quoted(file_text, file), line, message_text.data());
  if (length > 0) send(channel, reply_text.data(), static_cast<std::size_t>(length), MSG_NOSIGNAL);
}

}  // namespace course::grading
