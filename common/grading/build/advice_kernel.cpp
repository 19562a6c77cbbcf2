// Rules about what is particular to kernels: their variables, their memory, and what they may call.

#include <algorithm>
#include <array>
#include <string_view>

#include "grading/build/advice_rules.hpp"

namespace course::grading::advice {
namespace {

constexpr std::array<std::string_view, 4> kBuiltIns = {"threadIdx", "blockIdx", "blockDim", "gridDim"};

bool is_built_in(std::string_view word) {
  return std::find(kBuiltIns.begin(), kBuiltIns.end(), word) != kBuiltIns.end();
}

/// True if the message, or what nvcc adds to it about types, is about a vector of three numbers.
bool is_about_three_numbers(const Situation& s) {
  const auto& details = s.error.details;
  const auto names = [](const std::string& text) {
    return has_word(text, "uint3") || has_word(text, "dim3");
  };
  return names(s.error.text) ||
         (!details.empty() && details.front().find("types are:") != std::string::npos &&
          names(details.front()));
}

/// The first built-in variable on the error's line behind which `wrong` finds the wrong thing, or "".
template <class Wrong>
std::string built_in_on_line(const Situation& s, Wrong wrong) {
  for (const Word& word : s.code.words())
    if (word.line == s.error.line && is_built_in(word.text) && wrong(word)) return std::string(word.text);
  return "";
}

/// How a name was declared, if it was as const.
struct Constant {
  std::string name;
  int line = 0;
  bool pointer = false;  // to what is const
};

/// The nearest declaration of `name` above the line, if it says const.
std::optional<Constant> find_constant(const StudentCode& code, std::string_view name, int line) {
  for (auto word = code.words().rbegin(); word != code.words().rend(); ++word) {
    if (word->line > line || word->text != name) continue;
    constexpr std::size_t kLongestDeclaration = 500;
    const std::size_t from = word->at - std::min(word->at, kLongestDeclaration);
    std::string_view declaration = code.text().substr(from, word->at - from);
    declaration.remove_prefix(declaration.find_last_of(";{}(,") + 1);  // 0 if there is none
    const bool constant = has_word(declaration, "const") || has_word(declaration, "constexpr");
    if (!constant) continue;
    const auto star = declaration.find('*');
    const bool pointer = star != std::string_view::npos && star > declaration.find("const");
    return Constant{std::string(name), word->line, pointer};
  }
  return std::nullopt;
}

/// The name that is changed by the operator at line[at]: "c" of "c[i] = ...".
std::string_view changed_name(std::string_view line, std::size_t at) {
  const auto skip_blanks = [&] {
    while (at > 0 && line[at - 1] == ' ') --at;
  };
  skip_blanks();
  while (at > 0 && line[at - 1] == ']') {
    int depth = 0;
    while (at > 0) {
      --at;
      if (line[at] == ']') ++depth;
      if (line[at] == '[' && --depth == 0) break;
    }
    skip_blanks();
  }
  const std::string_view name = word_before(line, at);
  const std::size_t begin = name.empty() ? 0 : static_cast<std::size_t>(name.data() - line.data());
  return begin > 1 && line[begin - 1] == '.' ? changed_name(line, begin - 1) : name;
}

/// The names that the line assigns to, increments or decrements: the first few of them.
std::vector<std::string_view> changed_names(std::string_view line) {
  constexpr std::size_t kMostNames = 8;  // each is looked for in the whole file
  std::vector<std::string_view> names;
  for (std::size_t i = 1; i < line.size() && names.size() < kMostNames; ++i) {
    const char before = line[i - 1], next = i + 1 < line.size() ? line[i + 1] : '\0';
    if (line[i] == '=' && next != '=' && std::string_view("=<>!").find(before) == std::string_view::npos) {
      const bool compound = std::string_view("+-*/%&|^").find(before) != std::string_view::npos;
      names.push_back(changed_name(line, compound ? i - 1 : i));
    }
    const bool step = (line[i] == '+' && before == '+') || (line[i] == '-' && before == '-');
    if (!step) continue;
    const std::string_view behind = line.substr(i + 1);
    const auto end = std::find_if_not(behind.begin(), behind.end(), is_name_character);
    names.push_back(changed_name(line, i - 1));
    names.emplace_back(behind.begin(), end);
  }
  return names;
}

/// "add" of "add(float, float)".
std::string function_name(const std::string& signature) { return signature.substr(0, signature.find('(')); }

struct Form {
  std::string_view name, form;
};

constexpr std::array kForms = {
    Form{"cudaMalloc", "cudaMalloc(&pointer, bytes)"},
    Form{"cudaMemcpy", "cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice)"},
    Form{"cudaMemset", "cudaMemset(pointer, value of each byte, bytes)"},
    Form{"cudaFree", "cudaFree(pointer)"},
    Form{"atomicAdd", "atomicAdd(&element, value)"},
    Form{"atomicMax", "atomicMax(&element, value)"},
    Form{"__shfl_sync", "__shfl_sync(0xffffffff, value, lane)"},
    Form{"__shfl_down_sync", "__shfl_down_sync(0xffffffff, value, offset)"},
    Form{"__shfl_up_sync", "__shfl_up_sync(0xffffffff, value, offset)"},
    Form{"__shfl_xor_sync", "__shfl_xor_sync(0xffffffff, value, lane_mask)"},
    Form{"dim3", "dim3 name(x, y, z)"},
};

/// The template parameter that the arguments of a call leave open, or "": nvcc does not name it.
std::string undeduced_parameter(const Situation& s) {
  for (const std::string& line : s.error.details) {
    for (const std::string_view words :
         {"couldn't deduce template parameter '", "couldn't infer template argument '"}) {
      const auto at = line.find(words);
      if (at == std::string::npos) continue;
      const auto begin = at + words.size();
      return line.substr(begin, line.find('\'', begin) - begin);
    }
  }
  return "";
}

}  // namespace

Sentence axis_missing(const Situation& s) {
  const bool conversion = s.says_one_of({"no match for 'operator", "cannot convert", "invalid operands",
                                         "no viable conversion", "no operator \"", "no suitable conversion"});
  if (!conversion || !is_about_three_numbers(s)) return std::nullopt;
  const std::string name = built_in_on_line(s, [&](const Word& word) { return s.code.behind(word) != '.'; });
  if (name.empty())
    return "A dim3, such as blockDim, is three numbers: take one of them, as in blockDim.x, for a "
           "calculation.";
  return name + " is three numbers: write " + name + ".x, or .y or .z for the other two directions.";
}

Sentence axis_misspelt(const Situation& s) {
  if (!s.says_one_of({"has no member", "no member named"}) || !is_about_three_numbers(s)) return std::nullopt;
  const std::string name = built_in_on_line(s, [&](const Word& word) {
    const std::string_view text = s.code.text();
    const std::size_t end = word.at + word.text.size();
    return text.compare(end, 2, ".x") != 0 && text.compare(end, 2, ".y") != 0 &&
           text.compare(end, 2, ".z") != 0;
  });
  return "Its three numbers are called x, y and z, in small letters, as in " +
         (name.empty() ? "blockDim" : name) + ".x.";
}

Sentence index_missing(const Situation& s) {
  const bool pointer =
      s.says("invalid operands") && (s.quoted(0).ends_with('*') || s.quoted(1).ends_with('*'));
  const bool index = s.says_one_of({"for array subscript", "array subscript is not an integer"});
  if (!pointer && !index && !s.says("must have integral or unscoped enum type")) return std::nullopt;
  return "Either a pointer lacks its index, as in a[i], or something other than a whole number is used as an "
         "index.";
}

Sentence write_to_const(const Situation& s) {
  const bool read_only = s.says_one_of({"read-only", "with const-qualified type"});
  if (!read_only && !s.says("expression must be a modifiable lvalue")) return std::nullopt;
  for (const std::string_view name : changed_names(s.line)) {
    if (is_built_in(name))
      return std::string(name) + " only tells a kernel where it is: it cannot be changed.";
    const auto constant = find_constant(s.code, name, s.error.line);
    if (!constant) continue;
    const std::string declared =
        constant->name + " is declared const on line " + std::to_string(constant->line);
    if (!constant->pointer) return declared + ": leave const out there if it is to change.";
    return declared +
           ", so it is only for reading: leave const out there if it is an output, or write to another "
           "array.";
  }
  if (!read_only) return std::nullopt;
  return "What this line writes to is const, so it is only for reading: write to an output.";
}

Sentence const_dropped(const Situation& s) {
  if (!s.says_one_of({"invalid conversion", "a value of type", "argument of type", "cannot initialize"}))
    return std::nullopt;
  const std::string one = without_blanks(s.quoted(0)), other = without_blanks(s.quoted(1));
  if (!one.ends_with('*') || (one != "const" + other && other != "const" + one)) return std::nullopt;
  return "What is const may only be read, so a pointer to it needs const as well, as in const float* p.";
}

Sentence view_of_const(const Situation& s) {
  const std::string from = s.quoted(0), to = s.quoted(1);
  if (!s.says("conversion from") || !from.starts_with("View<") || !to.starts_with("View<"))
    return std::nullopt;
  const bool from_const = from.starts_with("View<const "), to_const = to.starts_with("View<const ");
  if (from_const == to_const) return std::nullopt;
  if (from_const)
    return "What is only read is a view of const: write const in front of the type of its elements, as in "
           "View<const float, 2>.";
  return "What is written to is no view of const: leave const out, as in View<float, 2>.";
}

Sentence view_index(const Situation& s) {
  if (!s.says("no match for 'operator[]'") || !s.says("View<")) return std::nullopt;
  return "A View takes its indices in round brackets, as in x(row, col).";
}

Sentence typename_missing(const Situation& s) {
  if (!s.says("is parsed as a non-type")) return std::nullopt;
  return "The compiler does not know yet that " + s.quoted() + " is a type: write typename " + s.quoted() +
         ".";
}

Sentence lambda_capture(const Situation& s) {
  if (!s.says("' is not captured") && !s.says("cannot be implicitly captured in a lambda"))
    return std::nullopt;
  return "A lambda sees the variables around it only if its brackets say so: write [=] for copies of them.";
}

Sentence kernel_returns(const Situation& s) {
  const bool value = s.says_one_of(
      {"return-statement with a value", "should not return a value", "return value type does not match"});
  const Block* const function = s.code.function_around(s.error.line);
  const bool in_kernel = value && function != nullptr && function->kernel;
  if (!in_kernel && !s.says("__global__ function must have a void return type")) return std::nullopt;
  return "A kernel is __global__ void and returns nothing: write results to an array that it gets as a "
         "pointer.";
}

Sentence shared_size(const Situation& s) {
  if (!has_word(s.line, "__shared__")) return std::nullopt;
  if (s.says_one_of({"isn't constant", "variable length array", "must have a constant value"}))
    return "A __shared__ array needs a size that the compiler knows; for one that only the launch knows, "
           "write extern "
           "__shared__ float name[]; and give its bytes in <<<blocks, threads, bytes>>>.";
  if (s.says_one_of({"isn't known", "incomplete type", "requires an explicit size"}))
    return "A __shared__ array needs a size in its brackets, or extern in front if the launch gives it.";
  return std::nullopt;
}

Sentence array_size(const Situation& s) {
  if (!s.says_one_of({"expression must have a constant value", "variable length array"}) ||
      s.line.find('[') == std::string_view::npos)
    return std::nullopt;
  return "The size of an array must be a constant that the compiler knows, such as a constexpr int.";
}

Sentence shared_types(const Situation& s) {
  if (!s.says("declaration is incompatible with previous") || !has_word(s.line, "__shared__"))
    return std::nullopt;
  return "To nvcc, all extern __shared__ arrays of one name are the same array: give this one another name, "
         "or the same type.";
}

Sentence host_code_in_kernel(const Situation& s) {
  if (!s.says_one_of({"calling a __host__ function", "calling a constexpr __host__ function"}))
    return std::nullopt;
  const std::string name = function_name(s.quoted());
  if (const Block* const function = s.code.function_named(name))
    return name + " exists for the host alone: write __device__ in front of it, on line " +
           std::to_string(function->head_line) + ", to call it in a kernel.";
  if (name == "max" || name == "min")
    return "std::" + name + " is code for the host: in a kernel, write f" + name + "f(a, b) for floats, or " +
           name + "(a, b) without std::.";
  return "The standard library is code for the host: a kernel works with arrays, its own functions and "
         "CUDA's.";
}

Sentence device_code_on_host(const Situation& s) {
  if (!s.says("calling a __device__ function")) return std::nullopt;
  const std::string name = function_name(s.quoted());
  return name + " exists for the GPU alone: only kernels and other __device__ functions can call it.";
}

Sentence host_variable_in_kernel(const Situation& s) {
  if (!s.says("is undefined in device code")) return std::nullopt;
  const std::string name = s.quoted();
  if (name.find_first_of(":<(") != std::string::npos || s.code.function_named(name) != nullptr)
    return std::nullopt;
  return name +
         " lies in the memory of the host: make it constexpr or __constant__, or give it to the kernel as an "
         "argument.";
}

Sentence mixed_types(const Situation& s) {
  if (!s.says_one_of({"no matching function", "no instance of"})) return std::nullopt;
  std::string name = function_name(s.quoted());
  if (name.starts_with("std::")) name.erase(0, 5);
  if ((name != "min" && name != "max") || s.line.find(name + "(") == std::string_view::npos)
    return std::nullopt;
  const std::string call = s.quoted();
  if (std::count(call.begin(), call.end(), ',') > 1 && call.find('<') == std::string::npos)
    return name + " takes two values: of three, write " + name + "(a, " + name + "(b, c)).";
  if (const Block* const function = s.code.function_around(s.error.line);
      function != nullptr && (function->kernel || has_word(s.code.line(function->head_line), "__device__")))
    return name + " takes two values of one type, and these are of two types: convert one of them.";
  return "std::" + name +
         " takes two values of one type, and these are of two types: name the one that you want, as " +
         "in std::" + name + "<std::int64_t>(a, b).";
}

Sentence template_argument(const Situation& s) {
  if (!s.says_one_of({"no matching function", "no instance of function template"})) return std::nullopt;
  std::string name = function_name(s.quoted());
  if (const auto scope = name.rfind("::"); scope != std::string::npos) name.erase(0, scope + 2);
  if (name.empty() || s.line.find(name + "(") == std::string_view::npos) return std::nullopt;  // not name<8>(
  const std::string parameter = undeduced_parameter(s);
  if (!parameter.empty())
    return "The arguments do not tell " + name + " its " + parameter +
           (has_word(contract_of(s.lesson), parameter)
                ? ": write it in front of them, as in " + name + "<" + parameter + ">(...)."
                : ": write what that is to be in front of them, in " + name + "<...>(...).");
  if (!s.notes("failed deduction")) return std::nullopt;
  return name +
         " is a template. If the arguments do not tell all that it has to know, write that in front of them, "
         "as in " +
         name + "<256>(...).";
}

Sentence call_form(const Situation& s) {
  if (!s.says_one_of({"no matching function", "too few arguments", "too many arguments", "no instance of",
                      "invalid conversion", "argument of type", "cannot convert"}))
    return std::nullopt;
  const bool nameless = s.says_one_of({"in function call", "argument of type"});  // nvcc
  for (const Form& known : kForms) {
    const bool named =
        std::any_of(s.error.details.begin(), s.error.details.end(), [&](const std::string& line) {
          return line.find("initializing argument") != std::string::npos && has_word(line, known.name);
        });
    if (!has_word(s.line, known.name) || !(nameless || named || has_word(s.error.text, known.name))) continue;
    return std::string(known.name) + " is used like this: " + std::string(known.form) + ".";
  }
  return std::nullopt;
}

Sentence tile_shape(const Situation& s) {
  if (!s.says_one_of({"no matching function", "no instance of function template",
                      "invalid initialization of reference", "cannot bind"}))
    return std::nullopt;
  for (const std::string_view function : {"multiply_add", "put_tile", "store_tile"}) {
    const auto begin = s.line.find(std::string(function) + "<");
    if (begin == std::string_view::npos) continue;
    const auto first = begin + function.size() + 1, end = s.line.find(">(", first);
    if (end == std::string_view::npos) continue;
    const std::string shape(s.line.substr(first, end - first));
    const std::string accumulator = (shape.starts_with("O") ? "an " : "a ") + shape + "::Accumulator";
    const std::string called = std::string(function) + "<" + shape + "> ";
    if (function == "multiply_add")
      return called + "takes an A of " + shape + "::kRows rows, a B of " + shape + "::kCols rows and " +
             accumulator +
             ", in this order; what stands here is not all of these shapes, or it belongs to another "
             "shape than " +
             shape + ".";
    const bool other_view = s.quoted().find("View<") != std::string::npos || s.notes("because argument #2");
    if (function == "store_tile" && other_view)
      return called +
             "writes to a View<float, 2>, such as device::matrix_of() makes of an output: the second "
             "argument is another view.";
    if (s.notes("Accumulator")) return called + "takes " + accumulator + ": what stands here is none.";
  }
  return std::nullopt;
}

}  // namespace course::grading::advice
