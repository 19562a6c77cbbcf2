#include "grading/build/kernel_build.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "grading/base/subprocess.hpp"
#include "grading/build/compiler_messages.hpp"
#include "grading/build/compiler_text.hpp"
#include "grading/build/effects.hpp"
#include "grading/build/host_guards.hpp"
#include "grading/build/joined_kernels.hpp"
#include "grading/build/kernel_cache.hpp"
#include "grading/build/merged_blocks.hpp"
#include "grading/build/operand_hooks.hpp"
#include "grading/build/own_headers.hpp"

namespace course::grading {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using Arguments = std::vector<std::string>;

constexpr auto kCompileTimeout = std::chrono::seconds(120), kJoinedTimeout = std::chrono::seconds(600);
constexpr auto kLongestExamination = std::chrono::seconds(30);  // of processor time; lesson 24 takes 1.2
// By the clock, in a box, where processor time is limited as well: others may be compiled at the same time.
constexpr auto kLongestInBox = 4 * std::chrono::seconds(kCompileSeconds);
constexpr const char* kShim = "common/simt/shim";
constexpr const char* kPrelude = "simt_prelude.h";
constexpr const char* kProgramPrelude = "simt_program_prelude.h";
/// nvcc takes no array whose size is no constant. Kernels' preludes are precompiled with it, too: it changes
/// a macro, and g++ would not take them otherwise.
constexpr const char* kNoVariableLength = "-Werror=vla";

/// One build: its inputs, its scratch folder and what was learned on the way.
struct Job {
  const Toolchain& toolchain;
  const Lesson& lesson;
  std::string source;  // relative to the project's folder if it lies within, as messages name it
  Flavour flavour = Flavour::run;
  fs::path scratch{};
  std::string failure{};           // why the kernel does not compile
  std::vector<fs::path> inputs{};  // every file that went in
  const CompileBox* box = nullptr;
  std::chrono::seconds timeout = kCompileTimeout;
  const ProgramSources* program = nullptr;  // null: a lesson's kernel
  bool joined = false;                      // of several kernels, at the lines of their files

  fs::path absolute(const fs::path& file) const {
    return file.is_absolute() ? file : toolchain.source_dir / file;
  }
};

std::string relative_to_project(const Toolchain& toolchain, const fs::path& file) {
  const fs::path whole = fs::weakly_canonical(file);
  const fs::path relative = whole.lexically_relative(fs::weakly_canonical(toolchain.source_dir));
  return relative.empty() || *relative.begin() == ".." ? whole.string() : relative.string();
}

/// Relative, because the compiler runs in the project's folder: so messages and debug information are short.
Arguments include_options(const Job& job) {
  if (job.program == nullptr) return {"-I", "common", "-I", "lessons", "-I", "lessons/" + job.lesson.id()};
  Arguments options;
  for (const fs::path& folder : job.program->include_folders) options.insert(options.end(), {"-I", folder});
  options.insert(options.end(), {"-I", "common"});
  return options;
}

/// What the compiler is made of, beside the programs of the system.
std::vector<Mount> tools_of(const Toolchain& toolchain) {
  std::vector<Mount> mounts = foreign_compilers(toolchain);
  mounts.push_back({.from = toolchain.rewriter});
  if (toolchain.cpu) {
    mounts.push_back({.from = toolchain.cpu->library});
    for (const fs::path& prelude : {toolchain.cpu->prelude, toolchain.cpu->check_prelude})
      if (!prelude.empty()) mounts.push_back({.from = prelude});
  }
  if (toolchain.gpu && !toolchain.gpu->ledger.empty()) mounts.push_back({.from = toolchain.gpu->ledger});
  return mounts;
}

SandboxRequest request_of(const Job& job) {
  const CompileBox& box = *job.box;
  SandboxRequest request{.mounts = tools_of(job.toolchain),
                         .directory = {.from = box.course, .to = kCourseInBox},
                         .scratch = true,
                         .memory_bytes = kCompileMemoryBytes,
                         .file_bytes = kCompileFileBytes,
                         .processor_seconds = kCompileSeconds};
  request.mounts.push_back(request.directory);
  request.mounts.push_back({.from = box.output, .writable = true});
  request.mounts.push_back({.from = job.toolchain.lessons.at(job.lesson.id()).entries});
  return request;
}

void move_into_box(const Job& job, Command& command) {
  const std::vector<std::string> launcher = job.box->sandbox.launcher(request_of(job));
  command.arguments.insert(command.arguments.begin(), launcher.begin(), launcher.end());
  command.directory = job.box->course;
  command.output_limit = std::size_t{1} << 20;
  command.timeout = kLongestInBox;
}

/// Tells in job.failure why a tool failed in the sandbox. What its output says about the disk or the system
/// may be the submission's own words, so it is not believed.
/// @throws MachineError if the disk or the sandbox is to blame
void explain_failure_in_box(Job& job, const CommandResult& result) {
  constexpr int kSignalled = 128;
  // Of the compiler, its driver, the assembler and the linker.
  constexpr std::array kWordsOfLimits{
      "Killed signal",    "CPU time limit exceeded",  "File size limit exceeded",
      "File too large",   "virtual memory exhausted", "out of memory allocating",
      "memory exhausted", "Cannot allocate memory",   "std::bad_alloc"};
  const bool killed = result.signal != 0 || result.exit_code > kSignalled ||
                      std::any_of(kWordsOfLimits.begin(), kWordsOfLimits.end(), [&](const char* words) {
                        return result.output.find(words) != std::string::npos;
                      });
  std::error_code unknown;
  const fs::space_info space = fs::space(job.box->output, unknown);
  if (!unknown && space.available < kCompileFileBytes)
    throw MachineError(
        fmt::format("The disk with the results has less than {} MiB free. Make room, then grade again.",
                    kCompileFileBytes >> 20));
  Lesson as_seen = job.lesson;
  as_seen.root = job.box->course;  // messages quote no other file
  if (result.timed_out)
    job.failure = fmt::format("Compiling it took longer than {} s and was stopped.", kLongestInBox.count());
  else if (killed)
    job.failure = fmt::format(
        "Compiling it was stopped: it took more than {} s of processor time, {} GiB of memory, or {} MiB of "
        "files. Look for templates or macros that expand without end.",
        kCompileSeconds, kCompileMemoryBytes >> 30, kCompileFileBytes >> 20);
  else if (const std::string why = job.box->sandbox.why_it_fails(request_of(job)); !why.empty())
    throw MachineError(fmt::format("The sandbox could not be started: {}", why));
  else
    job.failure = explain_compiler_output(result.output, as_seen, job.source);
}

/// Runs one tool. A failure that is the kernel's goes to job.failure, one that is the machine's is thrown.
bool run_tool(Job& job, std::vector<std::string> arguments) {
  Command command;
  command.arguments = std::move(arguments);
  command.directory = job.toolchain.source_dir;
  command.environment = {"LC_ALL=C"};  // messages are searched for English words
  command.timeout = job.timeout;
  if (job.box) move_into_box(job, command);
  CommandResult result;
  try {
    result = run_command(command);
  } catch (const std::system_error& error) {
    throw MachineError(std::string(error.what()) +
                       ". Install g++ (on Debian and Ubuntu: sudo apt-get install g++), " +
                       "then run `./course` again.");
  }
  if (result.ok()) return true;
  if (job.box) {
    explain_failure_in_box(job, result);
    return false;
  }
  if (result.output.find("No space left on device") != std::string::npos) {
    throw MachineError("The disk is full: the compiler could not write to " +
                       job.scratch.parent_path().string() +
                       ". Free some space, or set COURSE_BUILD_DIR to a folder on another disk.");
  }
  if (result.timed_out) {
    job.failure = "Compiling took longer than " + std::to_string(job.timeout.count()) + " s and was stopped.";
  } else if (result.signal != 0 || result.output.find("Killed signal") != std::string::npos) {
    throw MachineError("The compiler was ended by the system, most likely for lack of memory.");
  } else {
    job.failure = explain_compiler_output(result.output, job.lesson, job.source);
  }
  return false;
}

void note_inputs(Job& job, const fs::path& depfile) {
  if (job.box) return;  // nothing is kept, and the file is the compiler's word
  for (const fs::path& file : read_depfile(depfile)) {
    const fs::path whole = job.absolute(file).lexically_normal();
    const bool intermediate = whole.string().starts_with(job.scratch.string() + "/");
    if (!intermediate) job.inputs.push_back(whole);
  }
}

template <class... Lists>
std::vector<std::string> concatenate(const Lists&... lists) {
  std::vector<std::string> all;
  (all.insert(all.end(), lists.begin(), lists.end()), ...);
  return all;
}

/// CUDA source comes behind the prelude: precompiled if that fits, else g++ goes on to the header itself.
Arguments prelude_options(const Job& job) {
  Arguments options;
  const fs::path& precompiled = job.toolchain.cpu.value().prelude_of(job.flavour);
  if (!precompiled.empty()) options = {"-I", precompiled.string()};
  if (job.program != nullptr) return concatenate(options, Arguments{"-include", kProgramPrelude});
  return concatenate(options,
                     Arguments{kNoVariableLength, "-include", kPrelude, "-include", "simt_hide_mode.h"});
}

bool is_lessons_kernel(const Job& job) { return job.program == nullptr && !job.joined; }

/// Whether words that are no CUDA C++ are refused.
bool takes_only_cuda(const Job& job) {
  return is_lessons_kernel(job) && (job.box == nullptr || job.box->only_cuda);
}

/// Makes C++ of the job's CUDA source, in the file `output`, and refuses what is none. False: job.failure
/// tells why.
bool rewrite_source(Job& job, const std::string& output) {
  const std::string deps = job.scratch / "rewriter.d";
  Arguments rewrite{job.toolchain.rewriter, job.source, "-o", output, "--depfile", deps,
                    "--own-headers",        kShim};
  if (job.program != nullptr) rewrite.push_back("--nested-launches");
  if (is_lessons_kernel(job)) rewrite.insert(rewrite.end(), {"--own-lines", "--guard-host"});
  if (takes_only_cuda(job)) rewrite.push_back("--only-cuda");
  if (job.program != nullptr && job.program->architecture != 0)
    rewrite.insert(rewrite.end(), {"--arch", std::to_string(job.program->architecture)});
  if (!run_tool(job, concatenate(rewrite, include_options(job)))) return false;
  note_inputs(job, deps);
  return true;
}

/// Whether macros of a file may make a name of the simulator's.
bool may_make_names(std::string source) {
  for (const std::string_view joint : {"\\\r\n", "\\\n"})
    for (std::size_t at = source.find(joint); at != source.npos; at = source.find(joint, at))
      source.erase(at, joint.size());
  return source.find("define") != source.npos || source.find("simt") != source.npos;
}

/// The compiler and what every lesson's file is compiled with, up to the file.
Arguments compiler_for(const Job& job, const Arguments& included) {
  const CpuToolchain& cpu = job.toolchain.cpu.value();
  // What lies beside the source would otherwise be looked for beside its rewritten copy.
  const Arguments folders{"-iquote", fs::path(job.source).parent_path().string(), "-I", kShim};
  return concatenate(Arguments{cpu.compiler}, cpu.compile_flags(job.flavour), included, folders,
                     include_options(job));
}

/// Refuses a lesson's file whose macros make names of the simulator's: only the preprocessor knows them all.
/// `rewritten`: what has become of the file. False: job.failure tells why.
bool examine_names_after_macros(Job& job, const std::string& rewritten, const Arguments& included) {
  const fs::path source = job.box == nullptr ? job.absolute(job.source) : job.box->course / job.source;
  if (!takes_only_cuda(job) || !may_make_names(read_file(source))) return true;
  const std::string preprocessed = job.scratch / "kernel.ii";
  const Arguments preprocess{"-E", "-fpch-preprocess", rewritten, "-o", preprocessed};
  return run_tool(job, concatenate(compiler_for(job, included), preprocess)) &&
         run_tool(job, {job.toolchain.rewriter, job.source, "--examine-preprocessed", preprocessed,
                        "--own-headers", kShim});
}

/// Rewrites and compiles for the simulator to what `output` names, behind the header that `included` names
/// and with flags beside the flavour's. False: job.failure tells why.
bool compile_simulated(Job& job, const Arguments& output, const Arguments& included,
                       const Arguments& flags = {}) {
  const std::string rewritten = job.scratch / "kernel.cpp";
  const std::string compiler_deps = job.scratch / "compiler.d";
  if (!rewrite_source(job, rewritten) || !examine_names_after_macros(job, rewritten, included)) return false;
  const Arguments compile{"-pipe", "-MMD", "-MF", compiler_deps, rewritten};
  if (!run_tool(job, concatenate(compiler_for(job, concatenate(flags, included)), compile, output)))
    return false;
  note_inputs(job, compiler_deps);
  return true;
}

bool link_simulated(Job& job, const Arguments& inputs, const fs::path& output) {
  const CpuToolchain& cpu = job.toolchain.cpu.value();
  const Arguments runtime{cpu.library, "-Wl,-rpath," + cpu.library.parent_path().string()};
  return run_tool(job, concatenate(Arguments{cpu.compiler}, cpu.link_flags_of(job.flavour), inputs, runtime,
                                   Arguments{"-o", output}));
}

Arguments to_object(const std::string& object) { return {"-c", "-o", object}; }

/// What the compiler wrote there; empty, and job.failure tells why, if that is too much to look at.
std::string written(Job& job, const fs::path& file) {
  constexpr std::uintmax_t kMostBytes = std::uintmax_t{64} << 20;  // lesson 17 takes 4 MB
  if (fs::is_regular_file(fs::symlink_status(file)) && fs::file_size(file) <= kMostBytes)
    return read_file(file);
  job.failure =
      "What the compiler makes of it is too large. Look for templates or macros that expand too far.";
  return {};
}

/// Whether the compiler is g++, which can write down what it made of each function; else it is clang++. Only
/// g++ has this option.
bool is_gnu(const CpuToolchain& cpu) {
  return std::find(cpu.check_flags.begin(), cpu.check_flags.end(), "-fno-tree-sra") != cpu.check_flags.end();
}

/// What the loader calls in a submission's library before any code of the student's; see worker/names.hpp.
constexpr std::string_view kDoor = R"(
  .text
  .globl course_door
  .hidden course_door
  .weak course_hide_names
course_door:
  subq $8, %rsp
  call course_hide_names@PLT
  addq $8, %rsp
  ret
)";

/// What g++ wrote down beside the assembly: the file's symbols, and how it made each function.
struct CompilerFiles {
  fs::path assembly, symbols, optimized, accesses, blocks;
};

/// Makes sure that the assembly is what the compiler makes of CUDA C++ (see effects.hpp), and puts the hooks
/// of check mode in. Empty, and job.failure tells why, if not.
std::string examined(Job& job, const CompilerFiles& files, bool with_symbols, bool dumped) {
  std::string text = written(job, files.assembly);
  if (job.failure.empty()) job.failure = foreign_assembly(text);
  if (job.failure.empty()) job.failure = names_past_wrappers(text);
  if (job.failure.empty() && with_symbols) {
    const std::string dump = written(job, files.symbols);
    const std::string_view table = table_of_symbols(dump);
    if (job.box && job.failure.empty() && table.empty())
      throw MachineError(
          "g++ has not written which symbols the file has, so that their names cannot be examined. "
          "Grade with g++ 12.");
    if (job.failure.empty()) job.failure = foreign_names(table);
  }
  if (job.failure.empty() && dumped) {
    const std::string rewritten = written(job, job.scratch / "kernel.cpp");
    const OwnHeaders headers = headers_before_file(job.absolute(kShim), rewritten);
    if (job.failure.empty()) job.failure = calls_of_the_simulator(text, headers);
  }
  if (job.failure.empty() && dumped) {
    const std::string optimized = written(job, files.optimized), accesses = written(job, files.accesses),
                      blocks = written(job, files.blocks);
    const CompilerDumps all{optimized, accesses, blocks};
    if (job.failure.empty()) job.failure = unseen_accesses(all, job.source);
    if (job.failure.empty()) text = with_merged_blocks(with_operand_hooks(text, all));
  }
  return job.failure.empty() ? text : "";
}

/// Compiles a kernel as its lesson's is, and examines what becomes of it. False: job.failure tells why.
bool compile_examined(Job& job, const std::string& object) {
  const CpuToolchain& cpu = job.toolchain.cpu.value();
  const CompilerFiles files{job.scratch / "kernel.s", job.scratch / "kernel.symbols",
                            job.scratch / "kernel.optimized", job.scratch / "kernel.accesses",
                            job.scratch / "kernel.blocks"};
  Arguments flags;
  const bool dumped = job.flavour == Flavour::check && is_gnu(cpu);
  if (is_gnu(cpu)) flags.push_back("-fdump-ipa-visibility=" + files.symbols.string());
  if (dumped)
    flags.insert(flags.end(), {"-fdump-tree-optimized-lineno=" + files.optimized.string(),
                               "-fdump-tree-tsan-uid=" + files.accesses.string(),
                               "-fdump-tree-sancov=" + files.blocks.string()});
  if (!compile_simulated(job, {"-S", "-o", files.assembly.string()}, prelude_options(job), flags))
    return false;
  std::string text;
  try {
    const ReadingLimit limit(kLongestExamination);
    text = examined(job, files, is_gnu(cpu), dumped);
  } catch (const TooMuchToRead& error) {
    job.failure = error.what();
  }
  if (!job.failure.empty()) return false;
  if (job.box) text += kDoor;
  if (job.box || dumped) write_file_atomically(files.assembly, text);
  return run_tool(job, concatenate(Arguments{cpu.compiler, files.assembly.string()}, to_object(object)));
}

/// What is linked in so that a submission's kernels cannot read by functions of the host, where nothing sees
/// it, nor leave something there; see host_guards.hpp. Nothing, and job.failure tells why, if that fails.
std::optional<Arguments> guard_options(Job& job) {
  if (job.box == nullptr) return Arguments{};
  const std::vector<std::string> functions = host_functions(written(job, job.scratch / "kernel.s"));
  constexpr std::size_t kMostFunctions = 2000;  // each is a word of the linker's command line
  if (functions.size() > kMostFunctions) {
    job.failure = "It calls, or seems to, more functions of other libraries than any kernel does.";
    return std::nullopt;
  }
  const fs::path assembly = job.scratch / "guards.s", object = job.scratch / "guards.o";
  write_file_atomically(assembly, guards_of(functions));
  if (!run_tool(job, concatenate(Arguments{job.toolchain.cpu.value().compiler, assembly.string()},
                                 to_object(object))))
    return std::nullopt;
  Arguments options{object.string()};
  for (const std::string& function : functions) options.push_back("-Wl,--wrap=" + function);
  return options;
}

bool build_library_for_simulator(Job& job, const fs::path& library) {
  const std::string object = job.scratch / "kernel.o";
  const fs::path& entries = job.toolchain.lessons.at(job.lesson.id()).entries;
  if (!compile_examined(job, object)) return false;
  const std::optional<Arguments> guards = guard_options(job);
  if (!guards) return false;
  Arguments inputs{"-shared", "-Wl,--no-undefined", object, entries.string()};
  if (job.box) inputs.push_back("-Wl,-init=course_door");
  return link_simulated(job, concatenate(inputs, *guards), library);
}

/// Compiles a file of a program that is plain C.
bool compile_c(Job& job, const std::string& object) {
  const CpuToolchain& cpu = job.toolchain.cpu.value();
  const std::string deps = job.scratch / "compiler.d";
  Arguments flags = concatenate(cpu.compile_flags(job.flavour), job.program->flags);
  std::erase_if(flags, [](const std::string& flag) { return flag.starts_with("-std="); });
  const Arguments compile{"-x",  "c",  "-pipe", "-I",       kShim, "-MMD",
                          "-MF", deps, "-c",    job.source, "-o",  object};
  if (!run_tool(job, concatenate(Arguments{cpu.compiler}, flags, include_options(job), compile)))
    return false;
  note_inputs(job, deps);
  return true;
}

/// Whether a line is `#include <omp.h>`.
bool includes_openmp(std::string_view line) {
  for (const std::string_view word : {"#", "include"}) {
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (!line.starts_with(word)) return false;
    line.remove_prefix(word.size());
  }
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  return line.starts_with("<omp.h>") || line.starts_with("\"omp.h\"");
}

/// Whether a file of the program itself has OpenMP's header: nvcc then gets -Xcompiler -fopenmp.
bool uses_openmp(const ProgramSources& program) {
  return std::any_of(program.files.begin(), program.files.end(), [](const fs::path& file) {
    std::istringstream lines(read_file(file));
    for (std::string line; std::getline(lines, line);)
      if (includes_openmp(line)) return true;
    return false;
  });
}

/// Compiles a file of a program to an object; in check mode, with its basic blocks merged with accesses.
bool compile_of_program(Job& job, const std::string& object, const Arguments& included,
                        const Arguments& flags) {
  if (job.flavour != Flavour::check || !is_gnu(job.toolchain.cpu.value()))
    return compile_simulated(job, to_object(object), included, flags);
  const fs::path assembly = job.scratch / "kernel.s";
  if (!compile_simulated(job, {"-S", "-o", assembly.string()}, included, flags)) return false;
  const std::string text = written(job, assembly);
  if (!job.failure.empty()) return false;
  write_file_atomically(assembly, with_merged_blocks(text));
  return run_tool(
      job, concatenate(Arguments{job.toolchain.cpu.value().compiler, assembly.string()}, to_object(object)));
}

/// Compiles and links all files of a program with those flags beside the flavour's.
bool build_program_with(Job& job, const fs::path& program, const Arguments& standard) {
  Arguments objects;
  Arguments flags = concatenate(Arguments{"-DSIMT_PROGRAM"}, job.program->flags, standard);
  const bool openmp = uses_openmp(*job.program);
  if (openmp) flags.push_back("-fopenmp");
  for (const fs::path& file : job.program->files) {
    job.source = relative_to_project(job.toolchain, file);
    const std::string object = job.scratch / fmt::format("program{}.o", objects.size());
    const bool is_cuda = file.extension() == ".cu";
    if (file.extension() == ".c"
            ? !compile_c(job, object)
            : !compile_of_program(job, object, is_cuda ? prelude_options(job) : Arguments{}, flags))
      return false;
    objects.push_back(object);
  }
  objects.push_back(job.toolchain.cpu.value().program_support);  // last: see program.cpp
  job.source = relative_to_project(job.toolchain, job.program->files.front());
  if (openmp) objects.push_back("-fopenmp");
  return link_simulated(job, concatenate(job.toolchain.cpu.value().fast_link_flags, objects), program);
}

/// As -std= and what our headers need with it.
Arguments standard_options(const std::string& standard) {
  const std::size_t plus = standard.rfind('+');
  const std::string year = plus == std::string::npos ? standard : standard.substr(plus + 1);
  const bool old = year < "20" || year >= "98";
  // Our headers need C++17 with concepts.
  return old ? Arguments{"-std=gnu++17", "-fconcepts"} : Arguments{"-std=gnu++" + year};
}

// nvcc takes a program as C++17 unless it is told otherwise. Some have names of their own that C++20 has as
// well: what does not compile as C++20 is tried as C++17.
bool build_program_for_simulator(Job& job, const fs::path& program) {
  if (!job.program->standard.empty())
    return build_program_with(job, program, standard_options(job.program->standard));
  if (build_program_with(job, program, {})) return true;
  const std::string failure = std::exchange(job.failure, {});
  const std::string source = job.source;
  if (build_program_with(job, program, standard_options("c++17"))) return true;
  job.failure = failure;
  job.source = source;
  return false;
}

/// Compiles a file of several kernels into an object, and one that is linked behind it. False: job.failure
/// tells why.
bool compile_joined(Job& job, const std::string& code) {
  const fs::path source = job.scratch / "joined.cu", room = job.scratch / "room.cpp";
  write_file_atomically(source, code);
  write_file_atomically(room,
                        "#include \"grading/calls/shared_memory_room.hpp\"\n"
                        "COURSE_ROOM_BEHIND_SHARED_MEMORY;\n");
  write_file_atomically(job.scratch / "visible.map", "{ global: course_entries; local: *; };\n");
  job.source = source.string();
  const Arguments of_room{
      job.toolchain.cpu.value().compiler, "-fPIC", "-c", room, "-o", job.scratch / "room.o"};
  Arguments flags{"-ffunction-sections", "-fdata-sections"};
  // g++ tidies its memory every 128 MiB otherwise, which takes a tenth of its time.
  if (is_gnu(job.toolchain.cpu.value())) flags.push_back("--param=ggc-min-heapsize=524288");
  return compile_simulated(job, to_object(job.scratch / "kernel.o"), prelude_options(job), flags) &&
         run_tool(job, concatenate(of_room, include_options(job)));
}

/// Links what one kernel of the file needs, and nothing else: its library is as if it had been compiled
/// alone.
bool link_joined(Job& job, std::size_t index, const fs::path& library) {
  const std::string table = fmt::format("course_entries_{}", index);
  const Arguments inputs{"-shared", "-Wl,--no-undefined", "-Wl,--gc-sections", "-Wl,--undefined=" + table,
                         "-Wl,--defsym=course_entries=" + table,
                         "-Wl,--version-script=" + (job.scratch / "visible.map").string(),
                         // Above the code that is dropped: debug information says that it begins at 0.
                         "-Wl,-Ttext-segment=0x10000000", job.scratch / "kernel.o", job.scratch / "room.o"};
  return link_simulated(job, concatenate(job.toolchain.cpu.value().fast_link_flags, inputs), library);
}

bool build_library_for_gpu(Job& job, const fs::path& library, const Arguments& architectures) {
  if (takes_only_cuda(job) &&
      !run_tool(job, {job.toolchain.rewriter, job.source, "--examine", "--own-headers", kShim}))
    return false;
  const GpuToolchain& gpu = job.toolchain.gpu.value();
  const std::string object = job.scratch / "kernel.o", depfile = job.scratch / "compiler.d";
  Arguments code;
  for (const std::string& architecture : architectures) {
    code.push_back("-gencode");
    code.push_back("arch=compute_" + architecture + ",code=sm_" + architecture);
  }
  if (!run_tool(job, concatenate(Arguments{gpu.compiler, "-ccbin", gpu.host_compiler},
                                 gpu.compile_flags(job.flavour), code, include_options(job),
                                 Arguments{"-MMD", "-MF", depfile, "-c", job.source, "-o", object})))
    return false;
  if (job.failure = names_past_wrappers(read_file(object)); !job.failure.empty()) return false;
  note_inputs(job, depfile);
  Arguments link{gpu.host_compiler,
                 "-shared",
                 "-Wl,--no-undefined",
                 "-o",
                 library,
                 object,
                 job.toolchain.lessons.at(job.lesson.id()).entries};
  if (!gpu.ledger.empty()) link.push_back(gpu.ledger);
  return run_tool(job, concatenate(link, gpu.link_flags));
}

/// `linked_in` is the object of ours that goes into the result.
std::string cache_key(const Job& job, Backend backend, const Arguments& architectures,
                      const fs::path& linked_in) {
  ContentHash hash;
  hash.add(backend_name(backend))
      .add(job.lesson.id())
      .add(job.source)
      .add(
          "host functions guarded, operands, updates, calls, indices, moved places of frames and stacks "
          "hooked, blocks merged, no arrays of variable length")
      .add("names, builtins and what macros make examined");
  hash.add(job.toolchain.source_dir.string());  // it is where relative paths in debug information start
  hash.add(hash_file(linked_in)).add(hash_file(job.toolchain.rewriter));
  const auto add_all = [&](const Arguments& words) {
    for (const std::string& word : words) hash.add(word);
  };
  if (backend == Backend::cpu) {
    const CpuToolchain& cpu = job.toolchain.cpu.value();
    hash.add(identity(cpu.compiler)).add(cpu.library.string());
    hash.add(job.flavour == Flavour::check ? "check" : "run");
    add_all(cpu.compile_flags(job.flavour));
    add_all(cpu.link_flags_of(job.flavour));
    // The compiler names no header that it has read precompiled; when one changes, so does the precompiled
    // file.
    const fs::path& prelude = cpu.prelude_of(job.flavour);
    const std::string header = job.program != nullptr ? kProgramPrelude : kPrelude;
    hash.add(prelude.empty() ? "" : identity(prelude / (header + ".gch")));
  } else {
    const GpuToolchain& gpu = job.toolchain.gpu.value();
    hash.add(identity(gpu.compiler)).add(identity(gpu.host_compiler)).add(hash_file(gpu.ledger));
    add_all(gpu.compile_flags(job.flavour));
    add_all(gpu.link_flags);
    add_all(architectures);
  }
  return hash.hex();
}

/// Gives what the cache has under that key, or else what `build(job, output)` makes.
template <class Build>
BuildOutcome build_cached(Job& job, const std::string& key, Build build) {
  const auto start = Clock::now();
  const auto started = fs::file_time_type::clock::now();
  BuildOutcome outcome;
  const KernelCache cache(job.toolchain.binary_dir / "kernels");
  if (const auto found = cache.find(key)) {
    outcome.library = *found;
    outcome.from_cache = true;
  } else {
    const ScratchFolder scratch(cache.folder());
    job.scratch = scratch.path();
    const fs::path output = scratch.path() / "kernel.so";
    if (build(job, output)) {
      outcome.library = cache.publish(key, output, job.inputs, started);
    } else {
      outcome.message = job.failure;
    }
  }
  outcome.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return outcome;
}

/// Runs `make(job)` for a source that exists; says what is wrong with one that does not, and with the build
/// folder.
template <class Make>
BuildOutcome build_source(const Toolchain& toolchain, const Lesson& lesson, const fs::path& source,
                          Flavour flavour, Make make) {
  Job job{toolchain, lesson, relative_to_project(toolchain, source), flavour};
  if (!fs::exists(job.absolute(job.source))) {
    BuildOutcome outcome;
    outcome.message = job.source + " is not there.";
    return outcome;
  }
  try {
    return make(job);
  } catch (const std::system_error& error) {  // std::filesystem's errors are system errors, too
    throw MachineError("The build folder " + toolchain.binary_dir.string() +
                       " cannot be written: " + error.code().message() +
                       ". Make room or give yourself permission, or set COURSE_BUILD_DIR to another folder.");
  }
}

/// One of those that build_kernels() has to build.
struct JoinedKernel {
  fs::path file;
  std::string name;  // of the file, in messages
  std::string key;   // in the cache
  std::size_t index;
};

/// Builds those of the kernels that can be joined with the first of them that can; the outcomes of all others
/// stay as they are.
void build_joined(const Toolchain& toolchain, const Lesson& lesson, Flavour flavour,
                  std::vector<JoinedKernel> kernels, std::vector<BuildOutcome>& outcomes) {
  const auto start = Clock::now();
  const auto started = fs::file_time_type::clock::now();
  std::vector<NamedCode> codes;
  std::optional<std::string> head;
  std::erase_if(kernels, [&](const JoinedKernel& kernel) {
    const std::string code = read_file(kernel.file);
    const auto parts = take_apart(code);
    if (!parts || (head && parts->head != *head)) return true;
    head = parts->head;
    codes.push_back({kernel.name, code});
    return false;
  });
  if (kernels.size() < 2) return;
  const NamedCode contract{relative_to_project(toolchain, lesson.contract()), read_file(lesson.contract())};
  const auto code = join_kernels(contract, lesson.entries, codes);
  if (!code) return;

  const KernelCache cache(toolchain.binary_dir / "kernels");
  const ScratchFolder scratch(cache.folder());
  Job job{toolchain, lesson, {}, flavour, scratch.path()};
  job.timeout = kJoinedTimeout;
  job.joined = true;
  if (!compile_joined(job, *code)) return;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const fs::path library = scratch.path() / "kernel.so";
    if (!link_joined(job, i, library)) continue;
    std::vector<fs::path> inputs = job.inputs;
    inputs.insert(inputs.end(), {kernels[i].file, lesson.contract()});
    BuildOutcome& outcome = outcomes[kernels[i].index];
    outcome.library = cache.publish(kernels[i].key, library, inputs, started);
    outcome.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  }
}

}  // namespace

BuildOutcome build_kernel(const Toolchain& toolchain, const Lesson& lesson, const fs::path& source,
                          Backend backend, Flavour flavour, const Arguments& architectures) {
  const Arguments wanted =
      architectures.empty() && backend == Backend::gpu ? toolchain.gpu.value().architectures : architectures;
  return build_source(toolchain, lesson, source, flavour, [&](Job& job) {
    const std::string key = cache_key(job, backend, wanted, toolchain.lessons.at(lesson.id()).entries);
    return build_cached(job, key, [&](Job& inner, const fs::path& library) {
      return backend == Backend::cpu ? build_library_for_simulator(inner, library)
                                     : build_library_for_gpu(inner, library, wanted);
    });
  });
}

std::vector<BuildOutcome> build_kernels(const Toolchain& toolchain, const Lesson& lesson,
                                        const std::vector<fs::path>& sources, Flavour flavour) {
  std::vector<BuildOutcome> outcomes(sources.size());
  std::vector<JoinedKernel> kernels;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const Job job{toolchain, lesson, relative_to_project(toolchain, sources[i]), flavour};
    const std::string alone = cache_key(job, Backend::cpu, {}, toolchain.lessons.at(lesson.id()).entries);
    kernels.push_back(
        {job.absolute(job.source), job.source, ContentHash().add("joined").add(alone).hex(), i});
  }
  const KernelCache cache(toolchain.binary_dir / "kernels");
  std::erase_if(kernels, [&](const JoinedKernel& kernel) {
    const auto found = cache.find(kernel.key);
    if (found) outcomes[kernel.index].library = *found;
    outcomes[kernel.index].from_cache = found.has_value();
    return found.has_value();
  });
  try {
    build_joined(toolchain, lesson, flavour, kernels, outcomes);
  } catch (const Interrupted&) {
    throw;
  } catch (const std::runtime_error&) {
    // A MachineError or a std::system_error. Each is built alone below, which needs less of the machine, or
    // says what is wrong with it.
  }
  for (std::size_t i = 0; i < sources.size(); ++i)
    if (!outcomes[i].ok()) outcomes[i] = build_kernel(toolchain, lesson, sources[i], Backend::cpu, flavour);
  return outcomes;
}

std::vector<Mount> foreign_compilers(const Toolchain& toolchain) {
  std::set<fs::path> folders;  // above `bin`
  const auto add = [&](const fs::path& compiler) {
    const fs::path bin = fs::weakly_canonical(compiler).parent_path();
    if (!compiler.empty() && bin.filename() == "bin" && *std::next(bin.begin()) != "usr")
      folders.insert(bin.parent_path());
    const fs::path linked = compiler.parent_path();  // the way to it may be a link
    if (!compiler.empty() && linked.filename() == "bin" && *std::next(linked.begin()) != "usr")
      folders.insert(linked.parent_path());
  };
  if (toolchain.cpu) add(toolchain.cpu->compiler);
  if (toolchain.gpu) {
    add(toolchain.gpu->compiler);
    add(toolchain.gpu->host_compiler);
  }
  std::vector<Mount> mounts;
  for (const fs::path& folder : folders)
    for (const char* part :
         {"bin", "include", "lib", "lib64", "libexec", "nvvm", "targets", "x86_64-linux-gnu"})
      if (fs::is_directory(folder / part)) mounts.push_back({.from = folder / part});
  return mounts;
}

BuildOutcome build_submission(const Toolchain& toolchain, const Lesson& lesson, const CompileBox& box,
                              Backend backend, Flavour flavour, const Arguments& architectures) {
  const auto start = Clock::now();
  Job job{toolchain, lesson, "submission/" + lesson.id() + ".cu", flavour};
  job.scratch = box.output;
  job.box = &box;
  const fs::path library = box.output / "kernel.so";
  BuildOutcome outcome;
  box.sandbox.give(box.output);
  if (backend == Backend::cpu ? build_library_for_simulator(job, library)
                              : build_library_for_gpu(job, library, architectures))
    outcome.library = library;
  else
    outcome.message = job.failure;
  outcome.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return outcome;
}

BuildOutcome build_program(const Toolchain& toolchain, const ProgramSources& sources, Flavour flavour) {
  Lesson none;  // a program belongs to no lesson
  none.root = toolchain.source_dir;
  return build_source(toolchain, none, sources.files.front(), flavour, [&](Job& job) {
    job.program = &sources;
    ContentHash hash;
    hash.add(cache_key(job, Backend::cpu, {}, toolchain.cpu.value().program_support));
    for (const fs::path& file : sources.files) hash.add(file.string());
    for (const fs::path& folder : sources.include_folders) hash.add("-I").add(folder.string());
    for (const std::string& flag : sources.flags) hash.add(flag);
    hash.add(sources.standard).add(std::to_string(sources.architecture));
    return build_cached(job, hash.hex(), build_program_for_simulator);
  });
}

}  // namespace course::grading
