#include "cli/doctor.hpp"

#include <nlohmann/json.hpp>
#include <sstream>

#include "support/catch.hpp"

using namespace course::cli;

namespace {

Examination sample() {
  Examination examination;
  examination.findings = {
      {"Simulator", "run mode", State::fine, "compiled and ran a kernel", "", ""},
      {"Simulator", "check mode", State::broken, "it was ended by signal 11", "races by their lines", ""},
      {"The site", "doxygen-awesome-css", State::missing, "not installed", "the looks of the site",
       "sudo apt-get install -y doxygen-awesome-css"}};
  examination.simulator = true;
  examination.bug_report = {"course 0.1.0, commit 1a2b3c4, Release build"};
  return examination;
}

}  // namespace

TEST_CASE("the doctor says what is missing, what for, and the line that installs it", "[cli][doctor]") {
  CHECK(to_text(Terminal(), sample()) ==
        "Simulator\n"
        "  ok    run mode             compiled and ran a kernel\n"
        "  fails check mode           it was ended by signal 11\n"
        "                             For: races by their lines.\n"
        "\n"
        "The site\n"
        "  none  doxygen-awesome-css  not installed\n"
        "                             For: the looks of the site.\n"
        "                             sudo apt-get install -y doxygen-awesome-css\n"
        "\n"
        "Kernels run in the simulator: this machine is ready for the course.\n"
        "\n"
        "For a bug report\n"
        "  course 0.1.0, commit 1a2b3c4, Release build\n");
}

TEST_CASE("a machine on which no kernel runs is told so", "[cli][doctor]") {
  Examination examination = sample();
  CHECK(examination.kernels_run());
  examination.simulator = false;
  CHECK_FALSE(examination.kernels_run());
  CHECK(to_text(Terminal(), examination).find("Kernels run nowhere on this machine") != std::string::npos);
  examination.gpu = true;
  CHECK(to_text(Terminal(), examination).find("Kernels run on a GPU.") != std::string::npos);
}

TEST_CASE("programs get the same as JSON, whatever bytes a tool printed", "[cli][doctor]") {
  Examination examination = sample();
  examination.findings[0].detail = "\xff";
  const auto json = nlohmann::json::parse(to_json(examination));
  CHECK(json.at("version") == 1);
  CHECK(json.at("simulator") == true);
  CHECK(json.at("gpu") == false);
  CHECK(json.at("findings").at(2).at("state") == "missing");
  CHECK(json.at("bug_report").at(0) == "course 0.1.0, commit 1a2b3c4, Release build");
}

TEST_CASE("versions are found and compared number by number", "[cli][doctor]") {
  CHECK(version_in("g++ (Debian 12.2.0-14) 12.2.0") == "12.2.0");
  CHECK(version_in("Copyright 2005-2025\nrelease 13.0, V13.0.88") == "13.0");
  CHECK(version_in("version 2 of 3.").empty());
  CHECK(is_below("3.9", "3.25"));
  CHECK(is_below("11.4.0", "12"));
  CHECK(is_below("12", "12.4"));
  CHECK_FALSE(is_below("12.4.1", "12.4"));
  CHECK_FALSE(is_below("13.0", "12.4"));
  CHECK_FALSE(is_below("", "12"));
}

TEST_CASE("a bug report tells nobody's name", "[cli][doctor]") {
  const auto told = [](const std::string& text) {
    return without_names(text, "/home/ada", "/home/ada/flash", "ada");
  };
  CHECK(told("cannot write /home/ada/flash/build") == "cannot write ./build");
  CHECK(told("/home/ada/.local is ada's, not adam's") == "~/.local is USER's, not adam's");
  CHECK(without_names("root at /", "/", "", "root") == "root at /");
}
