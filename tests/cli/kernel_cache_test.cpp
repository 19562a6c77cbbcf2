#include "grading/build/kernel_cache.hpp"

#include <fstream>

#include "grading/base/subprocess.hpp"
#include "support/catch.hpp"

namespace fs = std::filesystem;
using namespace course::grading;

namespace {

void write(const fs::path& file, const std::string& text) { std::ofstream(file) << text; }

/// A cache with a source and a freshly built library beside it.
struct Fixture {
  ScratchFolder folder{fs::temp_directory_path()};
  KernelCache cache{folder.path() / "kernels"};
  fs::path source = folder.path() / "kernel.cu";

  Fixture() {
    fs::create_directories(cache.folder());
    write(source, "one");
    fs::last_write_time(source, fs::file_time_type::clock::now() - std::chrono::minutes(1));
  }

  fs::path publish(const std::string& key, const std::string& content = "library") {
    const fs::path library = folder.path() / "built.so";
    write(library, content);
    return cache.publish(key, library, {source}, fs::file_time_type::clock::now());
  }
};

}  // namespace

TEST_CASE("a published library is found until an input changes", "[cli][cache]") {
  Fixture f;
  CHECK_FALSE(f.cache.find("key").has_value());
  const fs::path library = f.publish("key");
  CHECK(f.cache.find("key") == library);
  CHECK(read_file(library) == "library");
  CHECK_FALSE(f.cache.find("other").has_value());
  write(f.source, "two");
  CHECK_FALSE(f.cache.find("key").has_value());
  write(f.source, "one");
  CHECK(f.cache.find("key") == library);
  fs::remove(f.source);
  CHECK_FALSE(f.cache.find("key").has_value());
}

TEST_CASE("an input that changed during the build leaves no record", "[cli][cache]") {
  Fixture f;
  const auto started = fs::file_time_type::clock::now() - std::chrono::minutes(2);
  const fs::path library = f.folder.path() / "built.so";
  write(library, "library");
  CHECK(fs::exists(f.cache.publish("key", library, {f.source}, started)));
  CHECK_FALSE(f.cache.find("key").has_value());
}

TEST_CASE("a damaged record or a missing library is as if nothing were there", "[cli][cache]") {
  Fixture f;
  const fs::path library = f.publish("key");
  fs::remove(library);
  CHECK_FALSE(f.cache.find("key").has_value());
  write(f.cache.folder() / "key.json", "{\"inputs\": ");
  CHECK_FALSE(f.cache.find("key").has_value());
}

TEST_CASE("what was used last stays when room is made", "[cli][cache]") {
  Fixture f;
  const auto now = fs::file_time_type::clock::now();
  for (const auto& [key, age] : {std::pair("old", 3), std::pair("used", 2), std::pair("new", 1)}) {
    const fs::path library = f.publish(key, std::string(1000, 'x'));
    fs::last_write_time(library, now - std::chrono::hours(age));
    fs::last_write_time(f.cache.folder() / (std::string(key) + ".json"), now - std::chrono::hours(age));
  }
  REQUIRE(f.cache.find("used").has_value());
  f.cache.prune(2000);
  CHECK_FALSE(f.cache.find("old").has_value());
  CHECK(f.cache.find("used").has_value());
  CHECK(f.cache.find("new").has_value());
}

TEST_CASE("what was made a short time ago stays even when there is no room", "[cli][cache]") {
  Fixture f;
  const fs::path old = f.publish("old", std::string(1000, 'x'));
  for (const fs::path& file : {old, f.cache.folder() / "old.json"})
    fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(1));
  const fs::path fresh = f.publish("fresh", std::string(1000, 'y'));
  f.cache.prune(0);
  CHECK_FALSE(fs::exists(old));
  CHECK(fs::exists(fresh));
  CHECK(f.cache.find("fresh").has_value());
}

TEST_CASE("hashes tell contents and their boundaries apart", "[cli][cache]") {
  CHECK(ContentHash().add("ab").add("c").hex() != ContentHash().add("a").add("bc").hex());
  CHECK(ContentHash().add("").hex() != ContentHash().hex());
  CHECK(ContentHash().add("x").hex() == ContentHash().add("x").hex());
  CHECK(ContentHash().add("x").hex().size() == 32);
  CHECK(hash_file("/nonexistent").empty());
}

TEST_CASE("reads dependency files with line continuations and escaped characters", "[cli][cache]") {
  Fixture f;
  const fs::path depfile = f.folder.path() / "kernel.d";
  write(depfile, "kernel.o: a.cu my\\ header.hpp \\\n  dir/b.hpp cost$$.hpp a\\#b.h\n");
  CHECK(read_depfile(depfile) ==
        std::vector<fs::path>{"a.cu", "my header.hpp", "dir/b.hpp", "cost$.hpp", "a#b.h"});
  write(depfile, "kernel.o : \\\n a.cu\n\nheader.hpp:\n");
  CHECK(read_depfile(depfile) == std::vector<fs::path>{"a.cu"});
}
