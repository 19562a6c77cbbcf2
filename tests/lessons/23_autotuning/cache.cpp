#include "23_autotuning/cache.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>

#include "23_autotuning/configurations.hpp"
#include "23_autotuning/devices.hpp"
#include "grading/testing/lesson_test.hpp"

namespace course::lesson_23 {

using namespace grading;

namespace {

struct Reread {
  std::string written, complaint;
};

Reread reread(const std::string& text) {
  Tensor<char> written({kTextBytes}), complaint({kTextBytes});
  require_ran(call(ENTRY(call_read_cache), host_in(buffer_of(text), "text"), host_out(written, "written"),
                   host_out(complaint, "complaint")));
  return {text_in(written), text_in(complaint)};
}

}  // namespace

std::string cache_text(const std::string& lines) {
  return fmt::format("course-autotuning 1 {:016x}\n{}", checksum(lines), lines);
}

std::string lines_of(const Cache& cache) {
  std::string lines;
  for (const auto& [key, c] : cache)
    lines += fmt::format("{} {} {} {} {}\n", text_of(c), key.size.M, key.size.N, key.size.K, key.device);
  return lines;
}

Cache drawn_cache(Random& random) {
  Cache entries;
  const auto blanks = [&](std::int64_t least) {
    return std::string(static_cast<std::size_t>(random.integer(least, 2)), ' ');
  };
  for (std::int64_t i = random.integer(8, 28); i > 0; --i) {
    const Configuration& c = kCompiled[random.integer(0, kCompiledCount - 1)];
    const auto length = [&] { return random.integer(0, std::int64_t{1} << random.integer(1, 40)); };
    const std::string device =
        random.integer(0, 3) == 0 ? kH100.name : "device" + blanks(1) + std::to_string(random.integer(0, 3));
    entries[{device + blanks(0), {length(), length(), length(), c.type}}] = c;
  }
  return entries;
}

Tensor<char> buffer_of(const std::string& text) {
  Tensor<char> buffer({kTextBytes});
  for (std::size_t i = 0; i < text.size(); ++i) buffer(i) = text[i];
  return buffer;
}

std::string text_in(const Tensor<char>& buffer) {
  std::string text(buffer.storage().begin(), buffer.storage().end());
  return text.substr(0, text.find('\0'));
}

void require_kept(const std::string& text, const std::string& as) {
  INFO("The text:\n" << text);
  const Reread got = reread(text);
  require(got.complaint.empty(), "This is a cache, but the complaint is: " + got.complaint);
  require(got.written == as,
          fmt::format("Read and written again, it is\n{}and should be\n{}", got.written, as));
}

void require_refused(const std::string& text) {
  INFO("The text:\n" << text);
  const Reread got = reread(text);
  require(got.written == cache_text(""),
          "This is no cache that write_cache() has written, but entries are read from it:\n" + got.written);
  require(got.complaint.size() > 10 && got.complaint.back() == '.' && got.complaint != "no complaint",
          "The text is left out, but `complaint` is no sentence that says why: \"" + got.complaint + "\".");
}

}  // namespace course::lesson_23
