#include "cli/nvcc_words.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

namespace course::cli {
namespace {

namespace fs = std::filesystem;

/// Our own options that have a value behind them.
constexpr std::array<std::string_view, 7> kOwnWithValue = {"--report", "--trace",  "--at",     "--order",
                                                           "--seed",   "--device", "--seconds"};
/// Those of nvcc that we have as well, with our spelling.
struct Spelling {
  std::string_view theirs, ours;
};
constexpr std::array kKnown = {Spelling{"-I", "-I"},
                               Spelling{"--include-path", "-I"},
                               Spelling{"-isystem", "-I"},
                               Spelling{"-D", "-D"},
                               Spelling{"--define-macro", "-D"},
                               Spelling{"-U", "-U"},
                               Spelling{"--undefine-macro", "-U"},
                               Spelling{"-std", "--std"},
                               Spelling{"--std", "--std"},
                               Spelling{"-arch", "--arch"},
                               Spelling{"--arch", "--arch"},
                               Spelling{"--gpu-architecture", "--arch"},
                               Spelling{"-l", "--library"},
                               Spelling{"--library", "--library"}};
/// Those that change nothing here, and have a value behind them or behind a '='.
constexpr std::array<std::string_view, 26> kIgnoredWithValue = {"-o",
                                                                "--output-file",
                                                                "-gencode",
                                                                "--generate-code",
                                                                "-code",
                                                                "--gpu-code",
                                                                "-Xcompiler",
                                                                "--compiler-options",
                                                                "-Xptxas",
                                                                "--ptxas-options",
                                                                "-Xlinker",
                                                                "--linker-options",
                                                                "-Xcudafe",
                                                                "-ccbin",
                                                                "--compiler-bindir",
                                                                "-maxrregcount",
                                                                "--maxrregcount",
                                                                "-L",
                                                                "--library-path",
                                                                "-t",
                                                                "--threads",
                                                                "-x",
                                                                "-cudart",
                                                                "--cudart",
                                                                "-diag-suppress",
                                                                "--diag-suppress"};
/// The same, of one word, or the beginning of one.
constexpr std::array<std::string_view, 22> kIgnored = {"-O",
                                                       "-g",
                                                       "-G",
                                                       "-lineinfo",
                                                       "--generate-line-info",
                                                       "--device-debug",
                                                       "-use_fast_math",
                                                       "--use_fast_math",
                                                       "-w",
                                                       "-W",
                                                       "-m64",
                                                       "--machine",
                                                       "-rdc",
                                                       "--relocatable-device-code",
                                                       "-dc",
                                                       "-expt",
                                                       "--expt",
                                                       "-extended-lambda",
                                                       "--extended-lambda",
                                                       "-fopenmp",
                                                       "-fmad",
                                                       "--ftz"};

bool is_source(const std::string& word) {
  constexpr std::array<std::string_view, 5> kEndings = {".cu", ".cpp", ".cc", ".cxx", ".c"};
  const std::string ending = fs::path(word).extension().string();
  return std::find(kEndings.begin(), kEndings.end(), ending) != kEndings.end() && fs::is_regular_file(word);
}

template <class List>
bool contains(const List& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

class Speller {
 public:
  explicit Speller(const std::vector<std::string>& words) : words_(words) {}

  std::vector<std::string> result() {
    while (next_ < words_.size()) {
      const std::string& word = words_[next_++];
      if (word == "--") {
        for (; next_ < words_.size(); ++next_) add("--argument=", words_[next_]);
      } else if (word.size() > 1 && word.front() == '-') {
        option(word);
      } else if (seen_file_ && is_source(word)) {
        add("--also=", word);
      } else {
        seen_file_ = true;
        result_.push_back(word);
      }
    }
    return std::move(result_);
  }

 private:
  void add(std::string_view option, const std::string& value) {
    result_.push_back(std::string(option) + value);
  }

  void option(const std::string& word) {
    if (contains(kOwnWithValue, word)) {
      result_.push_back(word);
      if (next_ < words_.size()) result_.push_back(words_[next_++]);
      return;
    }
    const std::string name = word.substr(0, word.find('='));
    for (const auto& [theirs, ours] : kKnown) {
      if (name == theirs) return with_value(ours, word, theirs.size());
      // -Idir, -DN=64, -lm: of one letter, with its value in the same word
      if (theirs.size() == 2 && word.starts_with(theirs) && !contains(kIgnored, name) &&
          !word.starts_with("-lineinfo"))
        return with_value(ours, word, theirs.size());
    }
    if (contains(kIgnoredWithValue, name)) {
      std::string whole = word;
      if (word == name && next_ < words_.size()) whole += " " + words_[next_++];
      return add("--ignored=", whole);
    }
    for (const std::string_view ignored : kIgnored)
      if (name == ignored ||
          ((ignored == "-O" || ignored == "-W" || ignored.ends_with("expt")) && name.starts_with(ignored)))
        return add("--ignored=", word);
    if (word.starts_with("-Xcompiler") || word.starts_with("-L")) return add("--ignored=", word);
    result_.push_back(word);
  }

  /// The value stands in the word behind `begin`, with a '=' or without, or is the next word.
  void with_value(std::string_view ours, const std::string& word, std::size_t begin) {
    std::string value;
    if (word.size() > begin) {
      value = word.substr(word[begin] == '=' ? begin + 1 : begin);
    } else if (next_ < words_.size()) {
      value = words_[next_++];
    } else {
      result_.push_back(word);
      return;
    }
    const bool letter = ours.size() == 2;
    result_.push_back(std::string(ours) + (letter ? "" : "=") + value);
  }

  const std::vector<std::string>& words_;
  std::vector<std::string> result_;
  std::size_t next_ = 0;
  bool seen_file_ = false;
};

}  // namespace

std::vector<std::string> spell_out_nvcc_words(const std::vector<std::string>& words) {
  return Speller(words).result();
}

int architecture_number(const std::string& name) {
  if (name == "native" || name == "all" || name == "all-major") return 900;
  const std::size_t digits = name.find_first_of("0123456789");
  const bool known = name.starts_with("sm_") || name.starts_with("compute_") || digits == 0;
  if (!known || digits == std::string::npos) return 0;
  int number = 0;
  for (std::size_t i = digits; i < name.size() && name[i] >= '0' && name[i] <= '9' && number < 10000; ++i)
    number = 10 * number + (name[i] - '0');
  if (number > 999) return 0;
  return number * 10;
}

}  // namespace course::cli
