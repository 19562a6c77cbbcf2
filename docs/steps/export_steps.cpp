// Writes the data of docs/steps.md to stdout.
//
//   export_steps           the script that the page loads, steps_data.js
//   export_steps --table   the table in docs/steps.md

#include <cstdio>
#include <exception>
#include <string>
#include <string_view>

#include "steps/steps.hpp"

int main(int argc, char** argv) {
  try {
    const bool table = argc == 2 && std::string_view(argv[1]) == "--table";
    if (argc > 1 && !table) {
      std::fputs("usage: export_steps [--table]\n", stderr);
      return 2;
    }
    const std::string text = table ? course::steps::table() : course::steps::script();
    return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "export_steps: %s\n", error.what());
    return 1;
  }
}
