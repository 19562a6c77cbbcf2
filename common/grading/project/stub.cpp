#include "grading/project/stub.hpp"

#include <fmt/core.h>

#include <sstream>
#include <stdexcept>
#include <string_view>

namespace course::grading {
namespace {

constexpr std::string_view kTodo = "// TODO", kCut = "// [cut]", kDone = "// [done]", kStub = "// stub|";

/// What a line is for.
enum class Part {
  both,      ///< the stub and the page
  name,      ///< the page: names what follows
  stub,      ///< the stub
  answer,    ///< the page
  enclosure  ///< neither
};

struct Line {
  Part part;
  std::string text;
};

/// Where the reader is.
enum class Position { outside, before_answer, in_answer };

class StubReader {
 public:
  Line read(const std::string& line) {
    ++number_;
    const std::size_t indent = line.find_first_not_of(' ');
    const std::string_view bare = indent == std::string::npos ? "" : std::string_view(line).substr(indent);
    if (bare.starts_with(kTodo)) return read_todo(line);
    if (bare == kCut) {
      if (place_ != Position::outside) refuse("[cut] stands in a part that has not ended.");
      place_ = Position::in_answer;
      return {Part::enclosure, ""};
    }
    if (bare == kDone) {
      if (place_ == Position::outside)
        refuse("[done] ends nothing: there is no TODO and no [cut] before it.");
      place_ = Position::outside;
      return {Part::enclosure, ""};
    }
    if (bare.starts_with(kStub)) {
      if (place_ != Position::before_answer) refuse("\"stub|\" belongs right below a TODO.");
      const std::size_t code = bare.find_first_not_of(' ', kStub.size());
      return {Part::stub, code == std::string_view::npos
                              ? ""
                              : std::string(indent, ' ') + std::string(bare.substr(code))};
    }
    if (place_ != Position::outside) {
      place_ = Position::in_answer;
      return {Part::answer, line};
    }
    return {bare.starts_with("// [") && bare.ends_with(']') ? Part::name : Part::both, line};
  }

  void finish() {
    if (place_ != Position::outside) refuse("the last part has no [done].");
  }

 private:
  Line read_todo(const std::string& line) {
    if (place_ == Position::in_answer) refuse("a TODO stands in a part that has not ended.");
    place_ = Position::before_answer;
    return {Part::stub, line};
  }

  [[noreturn]] void refuse(const char* why) const {
    throw std::runtime_error(fmt::format("line {}: {}", number_, why));
  }

  Position place_ = Position::outside;
  int number_ = 0;
};

/// The lines of the solution that `wanted` takes.
template <class Wanted>
std::string lines_of(const std::string& solution, Wanted wanted) {
  StubReader reader;
  std::string result;
  std::istringstream lines(solution);
  for (std::string text; std::getline(lines, text);) {
    const Line line = reader.read(text);
    if (wanted(line.part)) result += line.text + "\n";
  }
  reader.finish();
  return result;
}

}  // namespace

std::string stub_of(const std::string& solution) {
  return lines_of(solution, [](Part part) { return part == Part::both || part == Part::stub; });
}

std::string page_of(const std::string& solution) {
  return lines_of(solution,
                  [](Part part) { return part == Part::both || part == Part::name || part == Part::answer; });
}

}  // namespace course::grading
