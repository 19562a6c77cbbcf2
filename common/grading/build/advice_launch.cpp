// Rules about kernel<<<blocks, threads>>>(arguments).

#include <algorithm>
#include <optional>

#include "grading/build/advice_rules.hpp"

namespace course::grading::advice {
namespace {

/// The launch that the error's line is a part of.
struct Launch {
  std::string kernel;  // without template arguments
};

/// The word in front of text[end] with its template arguments left out: "kernel" of "kernel<4, float>".
std::string_view callee(std::string_view text, std::size_t end) {
  while (end > 0 && (text[end - 1] == ' ' || text[end - 1] == '\n')) --end;
  if (end > 0 && text[end - 1] == '>') {
    int depth = 0;
    while (end > 0) {
      --end;
      if (text[end] == '>') ++depth;
      if (text[end] == '<' && --depth == 0) break;
    }
  }
  return word_before(text, end);
}

std::optional<Launch> find_launch(const Situation& s) {
  if (s.line.empty()) return std::nullopt;
  const std::string_view text = s.code.text();
  const auto begin = static_cast<std::size_t>(s.line.data() - text.data());
  const auto open = text.rfind("<<<", begin + s.line.size() - 1);
  if (open == std::string_view::npos) return std::nullopt;
  const bool in_statement =
      open >= begin || text.substr(open, begin - open).find_first_of(";{}") == std::string_view::npos;
  if (!in_statement) return std::nullopt;
  return Launch{std::string(callee(text, open))};
}

/// True if a kernel's name is followed by a '<<' that no third '<' follows.
bool has_two_brackets(const Situation& s) {
  const std::string line = without_blanks(s.line);
  return std::any_of(s.code.blocks().begin(), s.code.blocks().end(), [&](const Block& block) {
    const auto at = block.kernel ? line.find(block.name + "<<") : std::string::npos;
    return at != std::string::npos && line.compare(at + block.name.size(), 3, "<<<") != 0;
  });
}

std::string kernel_on_line(const Situation& s) {
  for (const Block& block : s.code.blocks())
    if (block.kernel && has_word(s.line, block.name)) return block.name;
  return "";
}

}  // namespace

Sentence launch_brackets(const Situation& s) {
  if (!s.says_one_of({"expected primary-expression before", "expected expression", "expected an expression",
                      "invalid operands", "expression must have integral", "expected a \"(\"",
                      "expected a \">>>\""}))
    return std::nullopt;
  const std::string line = without_blanks(s.line);
  const auto is_split = [&](const char* brackets) {
    return line.find(brackets) != std::string::npos && s.line.find(brackets) == std::string_view::npos;
  };
  if (s.says("expected a \"(\"") && line.find(">>>;") != std::string::npos)
    return "The kernel's arguments are missing after >>>: without any, it is " + kernel_on_line(s) +
           "<<<blocks, threads>>>();";
  const bool one_sided = (line.find("<<<") == std::string::npos) != (line.find(">>>") == std::string::npos);
  const bool launches = line.find("<<") != std::string::npos && !kernel_on_line(s).empty();
  if (!launches || !(is_split("<<<") || is_split(">>>") || has_two_brackets(s) || one_sided))
    return std::nullopt;
  return "A launch has three '<' and three '>', without blanks between: " + kernel_on_line(s) +
         "<<<blocks, threads>>>(arguments);";
}

Sentence launch_without_brackets(const Situation& s) {
  if (!s.says("a __global__ function call must be configured")) return std::nullopt;
  const std::string name = kernel_on_line(s);
  if (name.empty()) return std::nullopt;
  return name + " is a kernel, so a call of it has to say how many threads run it: " + name +
         "<<<blocks, threads>>>(arguments);";
}

Sentence launch_of_a_function(const Situation& s) {
  const auto launch = find_launch(s);
  const bool device = s.says("calling a __device__ function") && launch && s.says(launch->kernel + "(");
  if (!launch || !(device || s.says("function call cannot be configured"))) return std::nullopt;
  const Block* const function = s.code.function_named(launch->kernel);
  if (function == nullptr || function->kernel) return std::nullopt;
  return "Only a kernel can be launched, and " + launch->kernel + ", on line " +
         std::to_string(function->head_line) + ", has no __global__ in front.";
}

Sentence launch_has_no_value(const Situation& s) {
  const bool has_void = s.says_one_of({"void value not ignored", "invalid use of void expression",
                                       "of type \"void\"", "of type 'void'", "incompatible type 'void'"});
  if (!has_void || !find_launch(s)) return std::nullopt;
  return "A launch gives no value: let it stand alone, and check it by CUDA_CHECK(cudaGetLastError()); on "
         "the next line.";
}

Sentence launch_configuration(const Situation& s) {
  const bool conversion = s.says_one_of({"invalid conversion", "cannot convert", "no suitable constructor",
                                         "no viable conversion", "could not convert"});
  const bool empty = without_blanks(s.line).find("<<<>>>") != std::string::npos;
  const bool argument = s.quoted(1).find('*') != std::string::npos;  // no launch takes a pointer there
  if (!empty && !(conversion && !argument && s.notes("dim3") && find_launch(s))) return std::nullopt;
  return "Between <<< and >>> stand the number of blocks and that of threads in a block, each a whole number "
         "or a dim3.";
}

Sentence launch_arguments(const Situation& s) {
  if (!s.says_one_of({"too few arguments", "too many arguments", "invalid conversion", "cannot convert",
                      "could not convert", "no matching function for call to", "argument of type",
                      "no suitable"}))
    return std::nullopt;
  const auto launch = find_launch(s);
  const Block* const kernel = launch ? s.code.function_named(launch->kernel) : nullptr;
  const bool other =
      s.says_one_of({"to function", "no matching function"}) && launch && !s.says(launch->kernel);
  if (kernel == nullptr || other) return std::nullopt;
  return kernel->name + " takes " + kernel->parameters +
         ": give the launch an argument of that type for each of them, in that order.";
}

}  // namespace course::grading::advice
