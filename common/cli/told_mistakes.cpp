#include "cli/told_mistakes.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <sstream>

#include "grading/base/subprocess.hpp"

namespace course::cli {
namespace {

constexpr int kFewestWords = 3;

std::string stripped(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(' '), end = text.find_last_not_of(' ');
  return begin == std::string_view::npos ? "" : std::string(text.substr(begin, end - begin + 1));
}

/// Letters, digits and what is beyond ASCII, in small letters; all else becomes single spaces.
std::string plain(std::string_view text) {
  std::string words;
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    if (std::isalnum(byte) != 0 || byte >= 0x80)
      words += static_cast<char>(std::tolower(byte));
    else if (!words.empty() && words.back() != ' ')
      words += ' ';
  }
  return stripped(words);
}

}  // namespace

std::vector<ToldMistake> parse_told_mistakes(std::string_view markdown) {
  std::vector<ToldMistake> rows;
  std::istringstream lines{std::string(markdown)};
  for (std::string line; std::getline(lines, line);) {
    const std::size_t between = line.find(" | ");
    if (!line.starts_with("| ") || between == std::string::npos || !line.ends_with(" |")) continue;
    rows.push_back({stripped(line.substr(2, between - 2)),
                    stripped(line.substr(between + 3, line.size() - between - 5))});
  }
  std::erase_if(rows, [](const ToldMistake& row) { return row.read == "what you read"; });
  return rows;
}

std::vector<ToldMistake> matching_told_mistakes(const std::vector<ToldMistake>& mistakes,
                                                std::string_view words) {
  const std::string wanted = " " + plain(words) + " ";
  std::vector<ToldMistake> found;
  std::copy_if(mistakes.begin(), mistakes.end(), std::back_inserter(found), [&](const ToldMistake& row) {
    return (" " + plain(row.read) + " ").find(wanted) != std::string::npos;
  });
  return found;
}

std::string page_of_told_mistakes(const std::vector<grading::Lesson>& lessons, std::string_view words) {
  const std::string wanted = plain(words);
  if (std::count(wanted.begin(), wanted.end(), ' ') + 1 < kFewestWords) return "";
  std::string page;
  for (const grading::Lesson& lesson : lessons) {
    const std::filesystem::path file = lesson.folder() / "mistakes.md";
    if (!std::filesystem::is_regular_file(file)) continue;
    for (const ToldMistake& row :
         matching_told_mistakes(parse_told_mistakes(grading::read_file(file)), words))
      page += fmt::format("## Lesson {}: {}\n\n{}\n\n", lesson.two_digits(), row.read, row.source);
  }
  return page.empty() ? "" : "# What a report says, and what it comes from\n\n" + page;
}

}  // namespace course::cli
