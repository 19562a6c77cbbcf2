#include "cli/known_mistakes.hpp"

#include <algorithm>
#include <iterator>

#include "grading/base/subprocess.hpp"
#include "grading/judging/mutant.hpp"

namespace course::cli {
namespace {

namespace fs = std::filesystem;
using namespace course::grading;

void add_once(std::vector<std::string>& list, const std::string& one) {
  if (std::find(list.begin(), list.end(), one) == list.end()) list.push_back(one);
}

bool contains(const std::vector<std::string>& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

}  // namespace

fs::path mistakes_file(const Toolchain& toolchain, const Lesson& lesson) {
  const auto found = toolchain.lessons.find(lesson.id());
  return found == toolchain.lessons.end() ? fs::path()
                                          : fs::path(found->second.test.string() + "_mistakes.json");
}

std::optional<std::vector<ListedMistake>> read_mistakes(const Toolchain& toolchain, const Lesson& lesson) {
  const fs::path file = mistakes_file(toolchain, lesson);
  if (file.empty() || !fs::exists(file)) return std::nullopt;
  return listed_mistakes(read_file(file));
}

KnownMistake find_mistake(const Toolchain& toolchain, const std::vector<Lesson>& lessons,
                          std::string_view name) {
  KnownMistake mistake{.name = std::string(name)};
  for (const Lesson& lesson : lessons) {
    const auto listed = read_mistakes(toolchain, lesson);
    for (const ListedMistake& one : listed.value_or(std::vector<ListedMistake>())) {
      if (one.name != name) continue;
      mistake.lessons.insert(lesson.number);
      for (const std::string& sentence : one.sentences) add_once(mistake.sentences, sentence);
    }
    for (const fs::path& file : lesson.mutants()) {
      const Mutant mutant = read_mutant(file);
      const bool has_it = contains(mutant.diagnoses, name);
      if (!has_it && !contains(mutant.diagnoses_by_luck, name)) continue;
      mistake.lessons.insert(lesson.number);
      if (!listed) mistake.not_built.insert(lesson.number);
      if (has_it) add_once(mistake.kernels, mutant.what);
    }
  }
  return mistake;
}

std::set<std::string> names_of_mistakes(const Toolchain& toolchain, const std::vector<Lesson>& lessons) {
  std::set<std::string> all;
  for (const Lesson& lesson : lessons) {
    for (const ListedMistake& one : read_mistakes(toolchain, lesson).value_or(std::vector<ListedMistake>()))
      all.insert(one.name);
    for (const fs::path& file : lesson.mutants()) {
      const Mutant mutant = read_mutant(file);
      all.insert(mutant.diagnoses.begin(), mutant.diagnoses.end());
      all.insert(mutant.diagnoses_by_luck.begin(), mutant.diagnoses_by_luck.end());
    }
  }
  return all;
}

}  // namespace course::cli
