// simt-ptx-table            prints the table of instructions as JSON, for docs/ptx.md
// simt-ptx-table --rows     reads opcodes, one a line, and prints the numbers of the rows that they may be
// Exit status: 0; 2 wrong usage.

#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "simt/ptx/table.hpp"

namespace {

const char* name_of(simt::ptx::Counted counted) {
  switch (counted) {
    case simt::ptx::Counted::float_operation:
      return "multiply-adds";
    case simt::ptx::Counted::special_function:
      return "special functions";
    case simt::ptx::Counted::nothing:
      break;
  }
  return "";
}

int print_table() {
  nlohmann::json rows = nlohmann::json::array(), registers = nlohmann::json::array();
  for (const simt::ptx::Entry& entry : simt::ptx::table())
    rows.push_back({{"name", entry.name},
                    {"syntax", simt::ptx::syntax_of(entry)},
                    {"section", entry.section},
                    {"counted", name_of(entry.counted)},
                    {"what", entry.what}});
  for (const simt::ptx::SpecialRegister& known : simt::ptx::special_registers())
    registers.push_back(
        {{"name", known.name}, {"type", simt::ptx::name_of(known.type)}, {"what", known.what}});
  std::cout << nlohmann::json{{"rows", rows}, {"registers", registers}}.dump(1) << "\n";
  return 0;
}

int print_rows() {
  for (std::string opcode; std::getline(std::cin, opcode);) {
    for (const std::size_t row : simt::ptx::rows_of(opcode)) std::cout << row << " ";
    std::cout << "\n";
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 1) return print_table();
  if (argc == 2 && std::string_view(argv[1]) == "--rows") return print_rows();
  std::fputs("usage: simt-ptx-table [--rows]\n", stderr);
  return 2;
}
