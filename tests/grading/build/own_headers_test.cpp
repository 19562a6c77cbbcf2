// Headers of the simulator's in which nothing comes from the file that is examined.
#include "grading/build/own_headers.hpp"

#include <fstream>

#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace course::grading;

TEST_CASE("the headers before a file are those that the rewriter names, and what these include in any case") {
  const course::test::TemporaryFolder folder;
  const std::filesystem::path shim = folder / "shim";
  std::filesystem::create_directories(shim / "cuda");
  const auto write = [&](const char* name, const std::string& text) { std::ofstream(shim / name) << text; };
  write("simt_prelude.h", "#pragma once\n#include \"cuda_runtime.h\"\n#include <string>\n");
  write("simt_hide_mode.h", "#pragma once\n");
  write("cuda_runtime.h", "#pragma once\n#ifdef PROGRAM\n#include \"graph.h\"\n#endif\n");
  write("graph.h", "#pragma once\n");
  write("mma.h", "#pragma once\n#include \"cuda/barrier\"\n");
  write("cuda/barrier", "#pragma once\n#include \"../warp.h\"\n#include \"pattern.h\"\n");
  write("warp.h", "#pragma once\n");
  write("pattern.h", "int SUFFIX;\n");
  using Headers = std::set<std::string>;
  const auto found = [&](const char* rewritten) {
    Headers names;
    for (const auto& [name, text] : headers_before_file(shim, rewritten)) names.insert(name);
    return names;
  };
  const Headers always{"simt_prelude.h", "simt_hide_mode.h", "cuda_runtime.h"};
  CHECK(found("#line 1 \"a.cu\"\n#include <mma.h>\n") == always);
  Headers with_mma = always;
  with_mma.insert({"mma.h", "cuda/barrier", "warp.h"});
  CHECK(found("#include <mma.h>\n#line 1 \"a.cu\"\n#include <graph.h>\n") == with_mma);
}
