#include "device/text_file.hpp"

#include <filesystem>
#include <set>
#include <stdexcept>
#include <string>

#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using course::device::read_text;
using course::device::replace_text;
using course::test::TemporaryFolder;

TEST_CASE("a text is read as it was written, line breaks, zeros and all") {
  const TemporaryFolder folder;
  const auto file = folder / "cache";
  const std::string text("one\r\ntwo\0three\n", 15);
  replace_text(file, text);
  CHECK(read_text(file) == text);
}

TEST_CASE("a file that is not there holds nothing") {
  const TemporaryFolder folder;
  CHECK(read_text(folder / "cache").empty());
}

TEST_CASE("a text is replaced as a whole, and nothing else is left in the folder") {
  const TemporaryFolder folder;
  const auto file = folder / "cache";
  replace_text(file, "a long text");
  replace_text(file, "short");
  CHECK(read_text(file) == "short");
  CHECK(folder.names() == std::set<std::string>{"cache"});
}

TEST_CASE("a file that cannot be written keeps what it holds, and says so") {
  const TemporaryFolder folder;
  CHECK_THROWS_AS(replace_text(folder / "missing" / "cache", "text"), std::runtime_error);
  const auto occupied = folder / "cache";  // a folder cannot be replaced by a file
  std::filesystem::create_directory(occupied);
  CHECK_THROWS_AS(replace_text(occupied, "text"), std::runtime_error);
  CHECK(std::filesystem::is_directory(occupied));
  CHECK(folder.names() == std::set<std::string>{"cache"});
}
