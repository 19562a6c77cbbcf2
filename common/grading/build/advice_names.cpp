// Rules about names that the compiler does not know.

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <set>
#include <utility>

#include "grading/base/edit_distance.hpp"
#include "grading/base/subprocess.hpp"
#include "grading/build/advice_rules.hpp"

namespace course::grading::advice {

std::string contract_of(const Lesson& lesson) {
  try {
    return lesson.name.empty() ? "" : read_file(lesson.contract());
  } catch (const std::exception&) {
    return "";
  }
}

namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 34> kCudaNames = {"threadIdx",
                                                         "blockIdx",
                                                         "blockDim",
                                                         "gridDim",
                                                         "warpSize",
                                                         "dim3",
                                                         "__global__",
                                                         "__device__",
                                                         "__host__",
                                                         "__shared__",
                                                         "__constant__",
                                                         "__restrict__",
                                                         "__syncthreads",
                                                         "__syncwarp",
                                                         "__threadfence",
                                                         "__launch_bounds__",
                                                         "__shfl_sync",
                                                         "__shfl_up_sync",
                                                         "__shfl_down_sync",
                                                         "__shfl_xor_sync",
                                                         "__ballot_sync",
                                                         "atomicAdd",
                                                         "atomicMax",
                                                         "cudaMalloc",
                                                         "cudaFree",
                                                         "cudaMemcpy",
                                                         "cudaMemset",
                                                         "cudaMemcpyHostToDevice",
                                                         "cudaMemcpyDeviceToHost",
                                                         "cudaGetLastError",
                                                         "cudaDeviceSynchronize",
                                                         "cudaError_t",
                                                         "cudaSuccess",
                                                         "CUDA_CHECK"};

struct Header {
  std::string_view name, header;
};

constexpr std::array kHeaders = {
    Header{"CUDA_CHECK", "\"device/cuda_check.hpp\""},
    Header{"max", "<algorithm>"},
    Header{"min", "<algorithm>"},
    Header{"fill", "<algorithm>"},
    Header{"vector", "<vector>"},
    Header{"array", "<array>"},
    Header{"string", "<string>"},
    Header{"to_string", "<string>"},
    Header{"invalid_argument", "<stdexcept>"},
    Header{"runtime_error", "<stdexcept>"},
    Header{"unique_ptr", "<memory>"},
    Header{"cout", "<iostream>"},
    Header{"size_t", "<cstddef>"},
    Header{"int64_t", "<cstdint>"},
    Header{"numeric_limits", "<limits>"},
    Header{"printf", "<cstdio>"},
    Header{"INFINITY", "<cmath>"},
    Header{"assert", "<cassert>"},
};

/// A part of CUDA that the simulator leaves out, and what to do instead.
struct Feature {
  std::string_view name, instead;
};
constexpr Feature kGraphs{"CUDA graphs beyond those that docs/simulator.md gives to programs",
                          "Launch the kernels one by one in a stream."};
constexpr Feature kTextures{"texture memory", "Let the kernel read the array through a pointer."};
constexpr Feature kSurfaces{"surface memory", "Let the kernel write the array through a pointer."};
constexpr Feature kDevices{"the use of several devices", "Use device 0 alone."};
constexpr Feature kClusters{"thread block clusters",
                            "If the program has a way for older GPUs, choose it with -arch=sm_80."};
constexpr Feature kProcesses{"memory shared between processes", "Copy through the host."};
constexpr Feature kGraphics{"graphics interoperability", "Keep the data in memory of cudaMalloc()."};
constexpr Feature kDriver{"the CUDA driver API", "Use the runtime API of cuda_runtime.h."};
constexpr Feature kCompiler{"NVRTC, which compiles kernels at run time", "Write the kernels into the file."};
constexpr Feature kCublas{"cuBLAS's triangular, symmetric, complex and solving functions",
                          "Compute the same in a kernel of your own, or on the host."};
constexpr Feature kCurand{"cuRAND's other generators",
                          "Use curandState, curandStatePhilox4_32_10_t or curandStateSobol32_t."};

/// Names, by how they begin. Longer ones first.
struct NameOfFeature {
  std::string_view begin;
  const Feature* feature;
};
constexpr std::array kNamesOfFeatures = {NameOfFeature{"cudaGraphics", &kGraphics},
                                         NameOfFeature{"cudaGraph", &kGraphs},
                                         NameOfFeature{"cudaStreamBeginCapture", &kGraphs},
                                         NameOfFeature{"cudaStreamEndCapture", &kGraphs},
                                         NameOfFeature{"cudaStreamCapture", &kGraphs},
                                         NameOfFeature{"cudaTexture", &kTextures},
                                         NameOfFeature{"cudaCreateTextureObject", &kTextures},
                                         NameOfFeature{"cudaBindTexture", &kTextures},
                                         NameOfFeature{"cudaResourceDesc", &kTextures},
                                         NameOfFeature{"cudaChannelFormat", &kTextures},
                                         NameOfFeature{"cudaCreateChannelDesc", &kTextures},
                                         NameOfFeature{"cudaArray", &kTextures},
                                         NameOfFeature{"cudaMallocArray", &kTextures},
                                         NameOfFeature{"cudaMalloc3DArray", &kTextures},
                                         NameOfFeature{"cudaMipmappedArray", &kTextures},
                                         NameOfFeature{"cudaSurface", &kSurfaces},
                                         NameOfFeature{"cudaCreateSurfaceObject", &kSurfaces},
                                         NameOfFeature{"texture", &kTextures},
                                         NameOfFeature{"tex1D", &kTextures},
                                         NameOfFeature{"tex2D", &kTextures},
                                         NameOfFeature{"tex3D", &kTextures},
                                         NameOfFeature{"surf2D", &kSurfaces},
                                         NameOfFeature{"cudaIpc", &kProcesses},
                                         NameOfFeature{"cudaMemcpyPeer", &kDevices},
                                         NameOfFeature{"cudaDeviceEnablePeerAccess", &kDevices},
                                         NameOfFeature{"cudaLaunchCooperativeKernelMultiDevice", &kDevices},
                                         NameOfFeature{"cudaExternal", &kGraphics},
                                         NameOfFeature{"cudaImportExternal", &kGraphics},
                                         NameOfFeature{"CUdevice", &kDriver},
                                         NameOfFeature{"CUcontext", &kDriver},
                                         NameOfFeature{"CUmodule", &kDriver},
                                         NameOfFeature{"CUfunction", &kDriver},
                                         NameOfFeature{"CUresult", &kDriver},
                                         NameOfFeature{"CUlinkState", &kDriver},
                                         NameOfFeature{"cuInit", &kDriver},
                                         NameOfFeature{"cuModule", &kDriver},
                                         NameOfFeature{"cuMem", &kDriver},
                                         NameOfFeature{"cuLaunch", &kDriver},
                                         NameOfFeature{"nvrtc", &kCompiler},
                                         NameOfFeature{"cublasCgem", &kCublas},
                                         NameOfFeature{"cublasZ", &kCublas},
                                         NameOfFeature{"cublasStr", &kCublas},
                                         NameOfFeature{"cublasDtr", &kCublas},
                                         NameOfFeature{"cublasSsy", &kCublas},
                                         NameOfFeature{"cublasDsy", &kCublas},
                                         NameOfFeature{"cublasSrot", &kCublas},
                                         NameOfFeature{"cublasDrot", &kCublas},
                                         NameOfFeature{"cublasSget", &kCublas},
                                         NameOfFeature{"cublasDget", &kCublas},
                                         NameOfFeature{"curandStateMRG", &kCurand},
                                         NameOfFeature{"curandStateMtgp", &kCurand},
                                         NameOfFeature{"curandStateSobol", &kCurand},
                                         NameOfFeature{"curandStateScrambled", &kCurand},
                                         NameOfFeature{"cudaReadMode", &kTextures},
                                         NameOfFeature{"surf1D", &kSurfaces},
                                         NameOfFeature{"surf3D", &kSurfaces},
                                         NameOfFeature{"cudaDeviceDisablePeerAccess", &kDevices},
                                         NameOfFeature{"cudaUserObject", &kGraphs},
                                         NameOfFeature{"this_cluster", &kClusters},
                                         NameOfFeature{"cluster_group", &kClusters}};

/// The name that the error says is not declared, or "".
std::string unknown(const Situation& s) {
  if (s.says("storage class or type specifier")) {  // nvcc, of a word that should be a type
    const std::string_view at = s.error.pointed_at;
    const auto end = std::find_if_not(at.begin(), at.end(), is_name_character);
    return std::string(at.begin(), end);
  }
  if (s.says("is not a member of 'std'")) return s.quoted();
  if (s.says("namespace \"std\" has no member")) return s.quoted(1);
  if (s.says("in namespace 'std'")) return s.quoted();  // clang: no member named 'vector' in namespace 'std'
  const bool undeclared = s.says_one_of({"was not declared in this scope", "does not name a type",
                                         "has not been declared", "use of undeclared identifier",
                                         "unknown type name", "neither visible in the template definition"});
  const bool nvcc = s.says("\" is undefined") && !s.says("in device code");
  return undeclared || nvcc ? s.quoted() : "";
}

bool is_member_of_std(const Situation& s) {
  return s.says_one_of({"is not a member of 'std'", "namespace \"std\"", "in namespace 'std'"});
}

/// The same word but for underscores at its ends and the size of its letters.
std::string bare(std::string_view word) {
  std::string result;
  for (const char c : word)
    if (c != '_') result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

/// How far `name` is from `candidate`, or 3 if it is another name altogether.
std::size_t distance(const std::string& name, std::string_view candidate) {
  constexpr std::size_t kFar = 3;
  if (name == candidate) return kFar;
  if (bare(name) == bare(candidate)) return 0;
  constexpr std::size_t kPart = 8;  // such as HostToDevice of cudaMemcpyHostToDevice
  if (name.size() >= kPart && (candidate.ends_with(name) || candidate.starts_with(name))) return 1;
  if (name + "_t" == candidate) return 1;
  const std::size_t letters = bare(name).size();
  const std::size_t most = letters < 4 ? 0 : letters < 8 ? 1 : 2;
  if (name.size() > candidate.size() + most || candidate.size() > name.size() + most) return kFar;
  const std::size_t found = edit_distance(name, candidate);
  return found <= most ? found : kFar;
}

bool is_constant_of_contract(const Lesson& lesson, std::string_view name) {
  const StudentCode contract(contract_of(lesson));
  return std::any_of(contract.words().begin(), contract.words().end(),
                     [&](const Word& word) { return word.text == name && contract.behind(word) == '='; });
}

/// What stands in front of the word, as Shape in Shape::kBlockN; empty without "::".
std::string_view owner_of(const StudentCode& code, const Word& word) {
  const bool qualified = word.at >= 2 && code.text().compare(word.at - 2, 2, "::") == 0;
  return qualified ? word_before(code.text(), word.at - 2) : std::string_view();
}

/// A class of which the name may be a member: the file has that member, or one with a name nearly the same.
/// Gives that one with its class, as in Shape::kBlockM; "" if there is none.
std::string nearest_member(const StudentCode& code, const std::string& name) {
  std::pair<std::size_t, std::string> best{3, ""};
  for (const Word& word : code.words())
    if (const std::string_view owner = owner_of(code, word); !owner.empty() && owner != "device")
      best = std::min(
          best, {distance(name, std::string(word.text)), std::string(owner) + "::" + std::string(word.text)});
  return best.second;
}

/// The names that the author can have meant: CUDA's, the contract's, and those of this function and file that
/// stand above the error.
std::set<std::string> known_names(const Situation& s) {
  std::set<std::string> names(kCudaNames.begin(), kCudaNames.end());
  const StudentCode contract(contract_of(s.lesson));
  for (const Word& word : contract.words()) names.emplace(word.text);
  const Block* const function = s.code.function_around(s.error.line);
  for (const Word& word : s.code.words()) {
    const Block* const around = s.code.function_around(word.line);
    const bool plain = owner_of(s.code, word).empty();
    if (plain && word.line < s.error.line && (around == function || around == nullptr))
      names.emplace(word.text);
  }
  return names;
}

/// True if the word is declared where it stands: behind a type and in front of what may follow a name.
bool is_declaration(const StudentCode& code, const Word& word) {
  static constexpr std::array<std::string_view, 5> kStatements = {"return", "else", "throw", "case", "goto"};
  const std::string_view type = word_before(code.text(), word.at);
  const bool typed =
      (!type.empty() && std::find(kStatements.begin(), kStatements.end(), type) == kStatements.end() &&
       std::isdigit(static_cast<unsigned char>(type.front())) == 0) ||
      std::string_view("*&>").find(code.before(word)) != std::string_view::npos;
  const char next = code.behind(word);
  const bool in_range_for = next == ':' && has_word(code.line(word.line), "for");
  return typed && next != '\0' &&
         (in_range_for || std::string_view("=;[{(,)").find(next) != std::string_view::npos);
}

/// Whether a `;` is the whole body of the `for` in whose head the word stands.
bool has_empty_body(const StudentCode& code, const Word& word) {
  const std::string_view text = code.text();
  const std::size_t line = text.rfind('\n', word.at) + 1;  // npos + 1 is 0
  const std::size_t head = text.rfind("for", word.at);
  if (head == std::string_view::npos || head < line || word_before(text, head + 3) != "for" ||
      is_name_character(text[head + 3]))
    return false;
  int depth = 0;
  for (std::size_t i = head; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] != ')' || --depth > 0) continue;
    const std::size_t next = text.find_first_not_of(" \n", i + 1);
    return i > word.at && next != std::string_view::npos && text[next] == ';';
  }
  return false;
}

}  // namespace

Sentence used_after_its_block(const Situation& s) {
  const std::string name = unknown(s);
  const Block* const here = s.code.function_around(s.error.line);
  if (name.empty() || here == nullptr) return std::nullopt;
  const Word* last = nullptr;
  for (const Word& word : s.code.words()) {
    if (word.text != name || word.line > s.error.line || s.code.function_around(word.line) != here) continue;
    if (!is_declaration(s.code, word)) continue;
    // On the line itself, it is the word that the compiler stopped at, unless that stands past a loop.
    if (word.line < s.error.line || has_empty_body(s.code, word)) last = &word;
  }
  if (last == nullptr) return std::nullopt;
  const std::string line = std::to_string(last->line);
  if (has_empty_body(s.code, *last))
    return "The ';' after the ')' of the for on line " + line + " is its whole body, and " + name +
           " is known only there: remove the ';'.";
  return name + " is known only in the block or loop in which line " + line +
         " declares it: declare it before that, or use it within.";
}

Sentence used_before(const Situation& s) {
  const std::string name = unknown(s);
  if (name.empty()) return std::nullopt;
  const Block* const here = s.code.function_around(s.error.line);
  for (const Word& word : s.code.words()) {
    if (word.text != name || word.line <= s.error.line || here == nullptr) continue;
    if (s.code.function_around(word.line) != here || !is_declaration(s.code, word)) continue;
    return name + " is declared only on line " + std::to_string(word.line) +
           ", and C++ reads from top to bottom: declare it before line " + std::to_string(s.error.line) + ".";
  }
  const Block* const function = s.code.function_named(name);
  if (function == nullptr || function->head_line <= s.error.line) return std::nullopt;
  return name + " begins only on line " + std::to_string(function->head_line) +
         ", and C++ reads from top to bottom: move it above line " + std::to_string(s.error.line) + ".";
}

Sentence missing_include(const Situation& s) {
  const std::string name = unknown(s);
  const bool of_std = is_member_of_std(s);
  for (const Header& known : kHeaders) {
    const bool only_in_std = known.header.starts_with('<') && name != "printf" && name != "INFINITY" &&
                             name != "assert" && name != "size_t" && name != "int64_t";
    if (name != known.name || (only_in_std && !of_std)) continue;
    return "Its header is missing: write #include " + std::string(known.header) + " at the top of the file.";
  }
  if (name.empty() || !is_constant_of_contract(s.lesson, name)) return std::nullopt;
  return s.lesson.name + ".hpp declares " + name + ": include it, and use the name inside namespace course.";
}

Sentence misspelt_name(const Situation& s) {
  const std::string name = unknown(s);
  if (name.empty() || is_member_of_std(s)) return std::nullopt;
  const std::set<std::string> names = known_names(s);
  constexpr std::string_view kGuess = "did you mean '";  // of g++ and clang; it may be any name of any header
  if (const auto at = s.error.text.find(kGuess); at != std::string::npos) {
    const auto begin = at + kGuess.size();
    if (names.contains(s.error.text.substr(begin, s.error.text.find('\'', begin) - begin))) return "";
  }
  if (s.says("did you mean 'course::device::" + name + "'"))
    return name + " is in namespace device: write device::" + name + ".";
  std::pair<std::size_t, std::string> best{3, ""};
  for (const std::string& candidate : names) best = std::min(best, {distance(name, candidate), candidate});
  if (best.second.empty()) {
    const std::string member = nearest_member(s.code, name);
    if (member.empty()) return std::nullopt;
    return "Nothing is called " + name + " here: is it a member, as " + member + " is?";
  }
  return "Nothing is called " + name + " here: is " + best.second + " meant?";
}

Sentence missing_type(const Situation& s) {
  const std::string name = unknown(s);
  if (name.empty()) return std::nullopt;
  for (const Word& word : s.code.words()) {
    if (word.line != s.error.line || word.text != name) continue;
    const std::size_t next = s.code.text().find('=', word.at);
    const bool assigned = s.code.behind(word) == '=' && s.code.text().compare(next, 2, "==") != 0;
    const bool begins = std::string_view(";{}(").find(s.code.before(word)) != std::string_view::npos;
    const std::string_view before = word_before(s.code.text(), word.at);
    if (before == "__shared__" || before == "__device__" || before == "__constant__")
      return "A type is missing: " + std::string(before) + " float " + name + ", for example.";
    if (!assigned || !begins) return std::nullopt;
    return "If " + name + " is a new variable, it needs a type in front, as in int " + name + " = ...";
  }
  return std::nullopt;
}

Sentence name_of_another_function(const Situation& s) {
  const std::string name = unknown(s);
  const Block* const function = s.code.function_around(s.error.line);
  if (name.empty() || function == nullptr) return std::nullopt;
  for (const Word& word : s.code.words()) {
    if (word.text != name || !is_declaration(s.code, word)) continue;
    const Block* const other = s.code.function_around(word.line);
    if (other == nullptr || other == function || other->name == name) continue;
    const bool is_type = word_before(s.code.text(), word.at) == "using";
    const auto& entries = s.lesson.entries;
    const bool is_entry = std::find(entries.begin(), entries.end(), function->name) != entries.end();
    return name + " belongs to " + other->name + ", on line " + std::to_string(word.line) +
           ": a function sees only its own names, so " + function->name +
           (is_type    ? " has to declare that type, too, or write out what it stands for."
            : is_entry ? " has to make its own."
                       : " has to make its own, or get it as a parameter.");
  }
  return std::nullopt;
}

struct PartOfLibrary {
  const char *space, *library, *has;
};
constexpr std::array kParts = {
    PartOfLibrary{"cub", "CUB", "It has reductions, scans, loads and stores of warps and blocks."},
    PartOfLibrary{
        "thrust", "Thrust",
        "It has vectors, copies, transforms, reductions, scans and sorts: docs/simulator.md lists them."}};

Sentence missing_feature(const Situation& s) {
  for (const auto& [space, library, has] : kParts) {
    const std::string within(space);
    if (!(s.says("'" + within + "::") && s.says("has not been declared")) &&
        !s.says_one_of({"is not a member of '" + within + "'", "in namespace '" + within + "'"}))
      continue;
    const std::string name = s.quoted();
    return (name.starts_with(within + "::") ? "" : within + "::") + name + " is a part of " + library +
           " which the simulator does not have. " + has;
  }
  const std::string name =
      s.says("is not a member of 'c") ? s.quoted() : unknown(s);  // 'cg', 'cooperative_groups'
  if (name.empty()) return std::nullopt;
  for (const NameOfFeature& known : kNamesOfFeatures)
    if (name.starts_with(known.begin))
      return name + " is part of " + std::string(known.feature->name) +
             ", which the simulator does not have. " + std::string(known.feature->instead);
  return std::nullopt;
}

Sentence unknown_name(const Situation& s) {
  const std::string name = unknown(s);
  const bool out_of_reach = s.code.function_named(name) != nullptr;  // in a class, for example
  if (name.empty() || is_member_of_std(s) || out_of_reach) return std::nullopt;
  const Block* const function = s.code.function_around(s.error.line);
  const std::string where = s.error.line > 0 ? "above line " + std::to_string(s.error.line) : "before it";
  const std::string nothing = "Nothing " + where + " declares " + name;
  if (function == nullptr) return nothing + ": check its spelling, or declare it.";
  return nothing + ": check its spelling, or declare it; the parameters of " + function->name + " are " +
         function->parameters + ".";
}

}  // namespace course::grading::advice
