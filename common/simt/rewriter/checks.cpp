#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "simt/rewriter/declarations.hpp"
#include "simt/rewriter/passes.hpp"

namespace simt::rewriter {
namespace {

/// True if a statement begins at `index`; in doubt, false.
bool begins_statement(const Sequence& tokens, std::uint32_t index) {
  if (index == 0) return false;
  static constexpr std::array<std::string_view, 4> kControls = {"if", "while", "for", "constexpr"};
  switch (tokens.kind(index - 1)) {
    case TokenKind::semicolon:
    case TokenKind::open_brace:
    case TokenKind::close_brace:
      return true;
    case TokenKind::word:
      return tokens.is(index - 1, "else") || tokens.is(index - 1, "do");
    case TokenKind::close_paren: {
      const std::uint32_t open = tokens.match(index - 1);
      return open != kNone && open > 0 && tokens.is_one_of(open - 1, kControls);
    }
    default:
      return false;
  }
}

/// True if the function's name at `name` follows an arithmetic type, which its result then has.
bool follows_number_type(const Sequence& tokens, std::uint32_t name) {
  static constexpr std::array<std::string_view, 8> kNumbers = {"bool", "char",  "short",    "int",
                                                               "long", "float", "unsigned", "double"};
  return name > 0 && tokens.is_one_of(name - 1, kNumbers);
}

/// True if the declaration in which the word at `index` stands says `__host__`, too. nvcc then only warns.
bool is_for_host_too(const Sequence& tokens, std::uint32_t index, std::uint32_t body) {
  std::uint32_t begin = index;
  while (begin > 0 &&
         (tokens.kind(begin - 1) == TokenKind::word || tokens.kind(begin - 1) == TokenKind::greater))
    --begin;
  for (std::uint32_t i = begin; i < body; ++i)
    if (tokens.is(i, "__host__")) return true;
  return false;
}

struct HostFunction {
  std::string_view name, instead;
};

/// Functions of namespace std that nvcc 13 refuses in device code, even where the compiler could compute
/// them. Those that CUDA has of its own, such as std::abs, std::exp, std::isnan, std::move and std::memcpy,
/// it takes.
constexpr std::array kHostFunctions = {
    HostFunction{"max", "write fmaxf(a, b) for floats, or max(a, b) without std::"},
    HostFunction{"min", "write fminf(a, b) for floats, or min(a, b) without std::"},
    HostFunction{"clamp", "write fminf(fmaxf(x, low), high) for floats, or min(max(x, low), high)"},
    HostFunction{"swap", "exchange the two with a variable between them"},
    HostFunction{"exchange", "keep the old value in a variable of its own"},
    HostFunction{"fill", "write a loop"},
    HostFunction{"fill_n", "write a loop"},
    HostFunction{"copy", "write a loop"},
    HostFunction{"copy_n", "write a loop"},
    HostFunction{"accumulate", "write a loop"},
    HostFunction{"sort", "write a loop"},
    HostFunction{"minmax", "compare the two with < yourself"},
    HostFunction{"make_pair", "write a struct of your own"},
    HostFunction{"make_tuple", "write a struct of your own"},
    HostFunction{"bit_cast", "use __float_as_uint(x), __uint_as_float(x) or their like"},
};

/// Classes and objects of namespace std for the host.
constexpr std::array<std::string_view, 15> kHostClasses = {
    "vector", "string",     "function",   "map",    "set",   "unordered_map", "unordered_set", "list",
    "deque",  "unique_ptr", "shared_ptr", "thread", "mutex", "cout",          "cerr"};

/// What a call of the standard library for the host is, from the `std` at `index`: its name, and what to
/// write instead. Nothing if it is none.
std::optional<HostFunction> host_call(const Sequence& tokens, std::uint32_t index) {
  if (!tokens.is(index, "std") || tokens.kind(index + 1) != TokenKind::scope) return std::nullopt;
  if (index > 1 && tokens.kind(index - 1) == TokenKind::scope && tokens.is(index - 2, "cuda"))
    return std::nullopt;  // cuda::std is for both sides
  const std::uint32_t name = index + 2;
  for (const std::string_view one : kHostClasses)
    if (tokens.is(name, one)) return HostFunction{one, "use plain arrays, functions and printf"};
  std::uint32_t behind = name + 1;
  if (tokens.kind(behind) == TokenKind::less) behind = tokens.angle_close(behind);
  if (behind == kNone) return std::nullopt;
  if (tokens.kind(behind) == TokenKind::greater) ++behind;
  if (tokens.is(name, "numeric_limits"))
    return tokens.kind(behind) == TokenKind::scope && tokens.kind(behind + 2) == TokenKind::open_paren
               ? std::optional(HostFunction{"numeric_limits",
                                            "use a macro such as INFINITY or FLT_MAX, or a constexpr "
                                            "variable that stands outside of it"})
               : std::nullopt;
  if (tokens.kind(behind) != TokenKind::open_paren) return std::nullopt;
  for (const HostFunction& function : kHostFunctions)
    if (tokens.is(name, function.name)) return function;
  return std::nullopt;
}

constexpr std::array<std::string_view, 5> kOfHosts = {"try", "catch", "throw", "typeid", "dynamic_cast"};

/// Whether each '{' has its '}'. Where one lacks it, what follows only seems to stand in a kernel's body, and
/// the compiler says that it is missing.
bool braces_balance(const Sequence& sequence) {
  for (std::uint32_t i = 0; i < sequence.size(); ++i)
    if (sequence.kind(i) == TokenKind::open_brace && sequence.match(i) == kNone) return false;
  return true;
}

}  // namespace

std::uint32_t device_body(const Sequence& sequence, std::uint32_t index) {
  if (sequence.kind(index) != TokenKind::word) return kNone;
  if (sequence[index].word != Word::global && !sequence.is(index, "__device__")) return kNone;
  const std::uint32_t body = read_kernel(sequence, index).body;
  if (body == kNone || sequence.match(body) == kNone || is_for_host_too(sequence, index, body)) return kNone;
  return body;
}

void check_kernels_of_lessons(const Sequence& sequence) {
  if (!braces_balance(sequence)) return;
  for (std::uint32_t i = 0; i < sequence.size(); ++i) {
    const std::uint32_t body = device_body(sequence, i);
    if (body == kNone) continue;
    for (i = body; i < sequence.match(body); ++i) {
      if (sequence.kind(i) == TokenKind::launch && !sequence.is(i - 1, "operator"))
        sequence.fail_at(i,
                         "A kernel launches a kernel here (CUDA calls it dynamic parallelism), which kernels "
                         "of lessons may not. Launch it from host code.");
      if (sequence.kind(i) == TokenKind::word && sequence.is_one_of(i, kOfHosts))
        sequence.fail_at(i, "'" + sequence.text(i) +
                                "' stands in code for the device, where nvcc refuses it: a GPU knows neither "
                                "exceptions nor type information. Leave it out.");
    }
  }
}

void check_device_calls(const Sequence& sequence) {
  if (!braces_balance(sequence)) return;
  for (std::uint32_t i = 0; i < sequence.size(); ++i) {
    const std::uint32_t body = device_body(sequence, i);
    if (body == kNone) continue;
    const bool kernel = sequence[i].word == Word::global;
    for (std::uint32_t k = body; k < sequence.match(body); ++k) {
      if (sequence.kind(k) != TokenKind::word) continue;
      const std::optional<HostFunction> call = host_call(sequence, k);
      if (!call) continue;
      const std::string name(call->name);
      sequence.fail_at(k, "std::" + name + " is code for the host, and nvcc refuses it in " +
                              (kernel ? "a kernel: " : "a __device__ function: ") +
                              std::string(call->instead) + ".");
    }
    i = body;
  }
}

void collect_kernels(Sequence& sequence) {
  std::vector<std::uint32_t> names;
  for (std::uint32_t i = 0; i < sequence.size(); ++i) {
    if (sequence[i].word != Word::global) continue;
    const KernelDeclaration kernel = read_kernel(sequence, i);
    if (kernel.name == kNone) continue;
    if (kernel.open == kernel.name + 1 && follows_number_type(sequence, kernel.name))
      sequence.fail_at(i, "A kernel is __global__ void and returns nothing. Let '" +
                              sequence.text(kernel.name) +
                              "' write its results to an array that it gets as a pointer.");
    names.push_back(kernel.name);
  }
  std::vector<std::string>& kernels = sequence.file().kernels;
  for (const std::uint32_t name : names) kernels.push_back(sequence.text(name));
  std::sort(kernels.begin(), kernels.end());
  kernels.erase(std::unique(kernels.begin(), kernels.end()), kernels.end());
  if (kernels.empty()) return;

  // A name that is declared as something else, too, says nothing about what a call of it means.
  std::vector<std::string> ambiguous = sequence.file().function_macros;
  for (std::uint32_t i = 0; i < sequence.size(); ++i) {
    if (sequence.kind(i) != TokenKind::word || std::binary_search(names.begin(), names.end(), i)) continue;
    if (looks_declared(sequence, i) && std::binary_search(kernels.begin(), kernels.end(), sequence.text(i)))
      ambiguous.push_back(sequence.text(i));
  }
  std::sort(ambiguous.begin(), ambiguous.end());
  std::erase_if(kernels, [&](const std::string& kernel) {
    return std::binary_search(ambiguous.begin(), ambiguous.end(), kernel);
  });
}

void check_direct_calls(const Sequence& sequence) {
  const std::vector<std::string>& kernels = sequence.file().kernels;
  if (kernels.empty()) return;
  for (std::uint32_t i = 0; i < sequence.size(); ++i) {
    if (sequence.kind(i) != TokenKind::word || !begins_statement(sequence, i)) continue;
    std::uint32_t open = i + 1;
    if (sequence.kind(open) == TokenKind::less) {
      const std::uint32_t close = sequence.angle_close(open);
      if (close == kNone) continue;
      open = close + 1;
    }
    if (sequence.kind(open) != TokenKind::open_paren || sequence.match(open) == kNone) continue;
    if (sequence.kind(sequence.match(open) + 1) != TokenKind::semicolon) continue;
    if (!std::binary_search(kernels.begin(), kernels.end(), sequence.text(i))) continue;
    const std::string name = sequence.joined(i, open);
    std::string message = "'" + name + "' is a kernel (__global__) and cannot be called like an ordinary ";
    message += "function. Launch it: " + name + "<<<blocks, threads>>>(arguments);";
    sequence.fail_at(i, message);
  }
}

}  // namespace simt::rewriter
