#include "samples.hpp"
#include "simt/report/text.hpp"
#include "support/catch.hpp"

using simt::report::findings_text;

TEST_CASE("a finding is one line when nothing wraps it", "[report][findings]") {
  CHECK(findings_text({samples::race()}, {}) ==
        "transpose.cu:6: error: race: thread (1,0,0) reads tile[1][0] while thread (0,1,0) writes it at line "
        "4. "
        "Nothing orders the two. Put __syncthreads() between them.\n");
}

TEST_CASE("on a terminal a finding is wrapped and its severity painted", "[report][findings]") {
  CHECK(findings_text({samples::race()}, {.width = 60, .colours = true}) ==
        "transpose.cu:6: \033[1;31merror:\033[0m race: thread (1,0,0) reads tile[1][0]\n"
        "    while thread (0,1,0) writes it at line 4. Nothing orders\n"
        "    the two. Put __syncthreads() between them.\n");
}

TEST_CASE("below a finding stand the program's own lines", "[report][findings]") {
  const std::string text = findings_text({samples::race_in_helper()}, {});
  CHECK(text.starts_with("transpose.cu:6: error: race: in load_tile() (tile.hpp:88), thread"));
  CHECK(text.ends_with("\n       4 | y[0] = tile[0][0];\n       6 | load_tile(x, tile);\n"));
  simt::Finding alone = samples::race_in_helper();
  alone.other = {};
  CHECK(findings_text({alone}, {}).ends_with("them.\n       6 | load_tile(x, tile);\n"));
}

TEST_CASE("no findings are no text", "[report][findings]") { CHECK(findings_text({}, {}).empty()); }
