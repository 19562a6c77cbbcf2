#include "cli/help.hpp"

#include <fmt/core.h>

#include <memory>
#include <sstream>

#include "cli/complete.hpp"
#include "cli/terminal.hpp"
#include "support/catch.hpp"

using namespace course::cli;

namespace {

/// An application with so many commands that no group names, beside check and bench.
std::unique_ptr<CLI::App> application(int others) {
  auto app = std::make_unique<CLI::App>("Usage: ./course COMMAND");
  app->name("./course");
  app->formatter(std::make_shared<Help>());
  app->footer("Examples: ./course check 01");
  app->add_subcommand("bench", "times kernels");
  CLI::App* check = app->add_subcommand("check", "runs tests");
  static std::vector<std::string> lessons, more;
  static std::string file, backend = "auto", out;
  static bool solution = false;
  check->add_option("LESSON", lessons, "number or name");
  check->add_option("OTHER", more, "others")->group("");
  check->add_flag("-s,--solution", solution, "the worked solution");
  check->add_option("--file", file, "a file")->type_name("FILE");
  check->add_option("--out", out, "a folder")->type_name("FOLDER")->required();
  check->add_option("--backend", backend, "where")
      ->check(CLI::IsMember({"auto", "cpu"}))
      ->capture_default_str();
  for (int i = 0; i < others; ++i)
    app->add_subcommand(fmt::format("extra{}", i), std::string(60, 'x') + " word");
  return app;
}

std::size_t count_lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

std::vector<std::string> completed(const std::vector<std::string>& words) {
  return complete(*application(2), words, [](const std::string& kind, const std::string&) {
    return kind == "LESSON" ? std::vector<std::string>{"vector_add", "causal"} : std::vector<std::string>{};
  });
}

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("commands stand in their groups, and those of no group under Other", "[cli][help]") {
  CHECK(application(1)->help() ==
        "Usage: ./course COMMAND\n\n"
        "Learn        check       runs tests\n\n"
        "GPU          bench       times kernels\n\n"
        "Other        extra0      " +
            std::string(51, 'x') +
            " ...\n\n"
            "Examples: ./course check 01\n");
}

TEST_CASE("the list of commands fits a screen, however many there are", "[cli][help]") {
  for (int others = 0; others < 60; ++others) {
    const std::string help = application(others)->help();
    CHECK(count_lines(help) <= Help::kScreen);
    std::istringstream lines(help);
    for (std::string line; std::getline(lines, line);) CHECK(columns_of(line) <= 80);
    for (int i = 0; i < others; ++i) CHECK(help.find(fmt::format("extra{}", i)) != std::string::npos);
    CHECK(help.find("Examples:") != std::string::npos);
  }
}

TEST_CASE("a command's help has its usage, its options and its examples", "[cli][help]") {
  const auto app = application(0);
  CLI::App* check = app->get_subcommand("check");
  check->footer("Examples:\n  ./course check 01");
  CHECK(check->help("./course") ==
        "Usage: ./course check --out FOLDER [OPTIONS] [LESSON ...]\n"
        "runs tests\n\n"
        "  LESSON ...          number or name\n"
        "  -s, --solution      the worked solution\n"
        "  --file FILE         a file\n"
        "  --out FOLDER        a folder\n"
        "  --backend auto|cpu  where (default auto)\n\n"
        "Examples:\n  ./course check 01\n");
}

TEST_CASE("commands are completed, but for the one behind the completion", "[cli][complete]") {
  CHECK(completed({"ch"}) == Words{"check"});
  CHECK(completed({""}) == Words{"bench", "check", "extra0", "extra1"});
  CHECK(completed({}) == completed({""}));
  CHECK(completed({"--he"}) == Words{"--help"});
  CHECK(completed({"nothing", "x"}).empty());
}

TEST_CASE("options are completed, each once", "[cli][complete]") {
  CHECK(completed({"check", "--"}) == Words{"--solution", "--file", "--out", "--backend", "--help"});
  CHECK(completed({"check", "-s", "--file", "a", "--"}) == Words{"--out", "--backend", "--help"});
  CHECK(completed({"check", "--so"}) == Words{"--solution"});
  CHECK(completed({"bench", ""}) == Words{"--help"});
}

TEST_CASE("what an option or argument takes is completed", "[cli][complete]") {
  CHECK(completed({"check", "v"}) == Words{"vector_add"});
  CHECK(completed({"check", "causal", "v"}) == Words{"vector_add"});
  CHECK(completed({"check", "--backend", "c"}) == Words{"cpu"});
  CHECK(completed({"check", "--backend=c"}) == Words{"--backend=cpu"});
  CHECK(completed({"check", "--backend", "=", "c"}) == Words{"cpu"});
  CHECK(completed({"check", "--file", "x"}) == Words{kFiles});
  CHECK(completed({"check", "--out=x"}) == Words{kFolders});
  CHECK(completed({"check", "--solution=x"}).empty());
  CHECK(completed({"check", "--", "x"}) == Words{kFiles});
}
