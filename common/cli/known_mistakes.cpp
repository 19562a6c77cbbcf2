#include "cli/known_mistakes.hpp"

#include <algorithm>
#include <optional>

#include "grading/base/subprocess.hpp"
#include "grading/judging/mutant.hpp"

namespace course::cli {
namespace {

namespace fs = std::filesystem;
using grading::Lesson;

void add_once(std::vector<std::string>& list, const std::string& one) {
  if (std::find(list.begin(), list.end(), one) == list.end()) list.push_back(one);
}

/// The literal at `at`, without quotes; then `at` is behind it.
std::string literal_at(std::string_view source, std::size_t& at) {
  std::string text;
  for (++at; at < source.size() && source[at] != '"'; ++at) {
    if (source[at] == '\\') ++at;
    if (at < source.size()) text += source[at];
  }
  ++at;
  return text;
}

/// The words as a student reads them, but for what is put in for {}.
std::string without_placeholders(const std::string& words) {
  std::string text;
  for (std::size_t at = 0; at < words.size(); ++at) {
    const std::size_t end = words[at] == '{' ? words.find('}', at) : std::string::npos;
    if (end != std::string::npos) at = end;
    text += end == std::string::npos ? std::string(1, words[at]) : "...";
  }
  return text;
}

/// The last sentence among the literals from `at` to where the list that holds it ends; literals side by side
/// are one.
std::optional<std::string> sentence_behind(std::string_view source, std::size_t at) {
  std::optional<std::string> sentence;
  std::string words;
  int depth = 0;
  const auto take = [&] {
    if (words.ends_with('.') && words.find(' ') != std::string::npos) sentence = without_placeholders(words);
    words.clear();
  };
  while (at < source.size() && depth >= 0) {
    const char c = source[at];
    if (c == '"') {
      words += literal_at(source, at);
      continue;
    }
    if (c != ' ' && c != '\n') take();
    if (c == '(' || c == '{' || c == '[') ++depth;
    if (c == ')' || c == '}' || c == ']') --depth;
    ++at;
  }
  return sentence;
}

std::vector<fs::path> sources_of_attention_tests(const fs::path& project) {
  std::vector<fs::path> files;
  std::error_code missing;
  for (const auto& entry : fs::directory_iterator(project / "tests/lessons/attention", missing))
    if (const std::string file = entry.path().string();
        file.ends_with(".cpp") && !file.ends_with("_test.cpp"))
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

/// Whether the file names the mistake; its sentences are then added.
bool add_sentences(const fs::path& file, std::string_view name, KnownMistake& mistake) {
  if (!fs::exists(file)) return false;
  const std::vector<std::string> sentences = sentences_in_source(grading::read_file(file), name);
  for (const std::string& sentence : sentences) add_once(mistake.sentences, sentence);
  return !sentences.empty();
}

bool contains(const std::vector<std::string>& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

}  // namespace

std::vector<std::string> sentences_in_source(std::string_view source, std::string_view name) {
  const std::string quoted = "\"" + std::string(name) + "\",";
  std::vector<std::string> sentences;
  for (std::size_t at = 0; (at = source.find(quoted, at)) != std::string_view::npos;) {
    at += quoted.size();
    if (const std::optional<std::string> sentence = sentence_behind(source, at))
      add_once(sentences, *sentence);
  }
  return sentences;
}

KnownMistake find_mistake(const std::vector<Lesson>& lessons, std::string_view name) {
  KnownMistake mistake{.name = std::string(name)};
  for (const Lesson& lesson : lessons) {
    if (add_sentences(lesson.root / "tests/lessons" / (lesson.id() + "_test.cpp"), name, mistake))
      mistake.lessons.insert(lesson.number);
    for (const fs::path& file : lesson.mutants()) {
      const grading::Mutant mutant = grading::read_mutant(file);
      const bool has_it = contains(mutant.diagnoses, name);
      if (has_it || contains(mutant.diagnoses_by_luck, name)) mistake.lessons.insert(lesson.number);
      if (has_it) add_once(mistake.kernels, mutant.what);
    }
  }
  if (!lessons.empty())
    for (const fs::path& file : sources_of_attention_tests(lessons.front().root))
      mistake.in_attention_lessons |= add_sentences(file, name, mistake);
  return mistake;
}

std::set<std::string> diagnoses_of_mutants(const std::vector<Lesson>& lessons) {
  std::set<std::string> all;
  for (const Lesson& lesson : lessons)
    for (const fs::path& file : lesson.mutants()) {
      const grading::Mutant mutant = grading::read_mutant(file);
      all.insert(mutant.diagnoses.begin(), mutant.diagnoses.end());
      all.insert(mutant.diagnoses_by_luck.begin(), mutant.diagnoses_by_luck.end());
    }
  return all;
}

}  // namespace course::cli
