#include "grading/judging/mutant.hpp"

#include <fmt/format.h>

#include <sstream>
#include <stdexcept>
#include <string_view>

#include "grading/base/subprocess.hpp"

namespace course::grading {
namespace {

[[noreturn]] void refuse(const Mutant& mutant, int line, std::string_view why) {
  throw std::runtime_error(fmt::format("{}:{}: {}", mutant.file.string(), line, why));
}

/// "key: value" above the first edit. False if the line is something else.
bool take_key(Mutant& mutant, const std::string& line) {
  const auto take = [&line](std::string_view key, std::vector<std::string>& list) {
    if (!line.starts_with(key)) return false;
    list.push_back(line.substr(key.size()));
    return true;
  };
  if (std::vector<std::string> names; mutant.told_by.empty() && take("case: ", names)) {
    mutant.told_by = names.front();
    return true;
  }
  return take("expect: ", mutant.expect) || take("expect-gpu: ", mutant.expect_gpu) ||
         take("diagnosis: ", mutant.diagnoses) || take("diagnosis-luck: ", mutant.diagnoses_by_luck);
}

/// Where the text stands as whole lines, at `from` or behind it; npos if nowhere.
std::size_t find_lines(const std::string& code, const std::string& lines, std::size_t from) {
  std::size_t at = code.find(lines, from);
  while (at != std::string::npos && at > 0 && code[at - 1] != '\n') at = code.find(lines, at + 1);
  return at;
}

}  // namespace

Mutant read_mutant(const std::filesystem::path& file) {
  Mutant mutant;
  mutant.file = file;
  std::istringstream stream(read_file(file));
  std::string* text = nullptr;  // the half of an edit that the next lines belong to
  int number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    if (line == "replace:") {
      text = &mutant.edits.emplace_back(Mutant::Edit{{}, {}, number}).before;
    } else if (line == "with:") {
      if (mutant.edits.empty() || text != &mutant.edits.back().before)
        refuse(mutant, number, "\"with:\" needs a \"replace:\" before it.");
      text = &mutant.edits.back().after;
    } else if (text) {
      *text += line + "\n";
    } else if (mutant.what.empty()) {
      mutant.what = line;
    } else if (!line.empty() && !take_key(mutant, line)) {
      refuse(
          mutant, number,
          "a line here begins with \"expect: \", \"expect-gpu: \", \"diagnosis: \" or \"diagnosis-luck: \", "
          "or, once, with \"case: \", or it is \"replace:\".");
    }
  }
  if (mutant.what.empty()) refuse(mutant, 1, "the first line should say what is wrong.");
  if (mutant.expect.empty())
    refuse(mutant, number, "no line \"expect: <words that a failed case must say>\".");
  if (mutant.edits.empty())
    refuse(mutant, number, "no edit: \"replace:\", lines of the solution, \"with:\", others.");
  for (Mutant::Edit& edit : mutant.edits) {
    if (text == &edit.before) refuse(mutant, edit.line, "this \"replace:\" has no \"with:\".");
    for (std::string* half :
         {&edit.before, &edit.after})  // an empty line before the next "replace:" is for the eye
      while (half->ends_with("\n\n") || *half == "\n") half->pop_back();
    if (edit.before.empty()) refuse(mutant, edit.line, "nothing to replace.");
  }
  return mutant;
}

std::string mutated(const Mutant& mutant, const std::string& solution) {
  std::string code = solution;
  for (const Mutant::Edit& edit : mutant.edits) {
    const std::size_t at = find_lines(code, edit.before, 0);
    if (at == std::string::npos) refuse(mutant, edit.line, "the solution has no such lines.");
    if (find_lines(code, edit.before, at + 1) != std::string::npos)
      refuse(mutant, edit.line, "the solution has these lines more than once; add a line that tells which.");
    code.replace(at, edit.before.size(), edit.after);
  }
  return code;
}

}  // namespace course::grading
