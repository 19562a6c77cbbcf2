#include "simt/check/source_names.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "support/catch.hpp"

using namespace simt::check;
using simt::source_text;
using simt::written_name;
namespace fs = std::filesystem;
using Names = std::vector<std::string>;

TEST_CASE("the arrays that a line indexes are found, each once and in order", "[simt][names]") {
  CHECK(indexed_names("tile[ty][tx] = a[row * n + tile[0][0]];") == Names{"tile", "a"});
  CHECK(indexed_names("  sum += x [i] * w_2[j];") == Names{"x", "w_2"});
  CHECK(indexed_names("s.values[i] = p->rows[k];") == Names{"s.values", "p->rows"});
  CHECK(indexed_names("x = y + z;").empty());
}

TEST_CASE("a line mentions an array by its name, and a member whatever its object is called there",
          "[simt][names]") {
  CHECK(mentions("tile[i] = 0;", "tile"));
  CHECK_FALSE(mentions("tiles[i] = 0;  // tile", "tile"));
  for (const char* line : {"f(smem.K)", "f(tiles->K.at[1])", "tile.K[0]"}) {
    CHECK(mentions(line, "smem.K"));
    CHECK(mentions(line, "smem->K"));
  }
  for (const char* line : {"f(smem.K_T)", "i > K", "f(K)", "smem.P;  // smem.K", "smem."})
    CHECK_FALSE(mentions(line, "smem.K"));
}

TEST_CASE("comments and brackets that index nothing are left alone", "[simt][names]") {
  CHECK(indexed_names("a[i] = 0;  // b[i] would be wrong") == Names{"a"});
  CHECK(indexed_names("[[maybe_unused]] auto f = [&](int i) { return a[i]; };") == Names{"a"});
  CHECK(indexed_names("(*rows)[i] = 0;").empty());
}

TEST_CASE("a line of source is read from its file", "[simt][names]") {
  const fs::path folder = fs::temp_directory_path() / "simt_source_names_test";
  fs::create_directories(folder);
  std::ofstream(folder / "kernel.cu") << "first\n  second \n";
  CHECK(source_text({(folder / "kernel.cu").string(), 2}) == "second");
  CHECK(source_text({(folder / "kernel.cu").string(), 3}).empty());
  CHECK(source_text({(folder / "missing.cu").string(), 1}).empty());
  setenv("SIMT_SOURCES", folder.c_str(), 1);
  CHECK(source_text({"kernel.cu", 1}) == "first");
  unsetenv("SIMT_SOURCES");
  fs::remove_all(folder);
}

TEST_CASE("a function is called as one writes it", "[simt][names]") {
  CHECK(written_name(
            "void course::flash_kernel<course::device::Shape<128, 64> >(course::View<float const, 4>)") ==
        "flash_kernel<Shape<128, 64>>");
  CHECK(written_name("(anonymous namespace)::add(float*)") == "add");
  CHECK(written_name("void ns::f<(ns::Mode)1, int (*)(float)>(void (*)(int))") ==
        "f<(Mode)1, int (*)(float)>");
  CHECK(written_name("kernel") == "kernel");
  CHECK(written_name("").empty());
}
