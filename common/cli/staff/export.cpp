// `course export`: kernels as a package that pip installs, with their libraries for this machine.

#include <fmt/core.h>
#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "cli/commands.hpp"
#include "cli/kernel_queue.hpp"
#include "cli/progress.hpp"
#include "cli/workspace.hpp"
#include "grading/base/subprocess.hpp"
#include "grading/project/gpu_probe.hpp"

namespace course::cli {
namespace {

namespace fs = std::filesystem;
using namespace course::grading;

/// What the package's Python has to know of a lesson; its entries' parameters are in kernel_library.py.
struct Exportable {
  int forward, backward;  ///< lessons; 0: it has no gradients
  bool causal, groups;    ///< always causal; K and V may have fewer heads
  std::vector<std::string> types{"float32"};
};

/// Forward passes that give O and lse, alone or with the backward pass that takes them.
const std::vector<Exportable>& exportables() {
  static const std::vector<Exportable> all{{9, 0, false, false},
                                           {9, 15, false, false},
                                           {10, 0, true, false},
                                           {10, 15, true, false},
                                           {11, 0, false, true},
                                           {11, 16, false, true},
                                           {12, 0, true, false},
                                           {13, 0, true, false},
                                           {17, 17, false, true},
                                           {18, 18, false, true},
                                           {19, 0, false, false},
                                           {19, 15, false, false},
                                           {22, 0, false, true, {"bfloat16", "float16"}},
                                           {22, 24, false, true, {"bfloat16", "float16"}}};
  return all;
}

/// "09, 09 with 15, 10, ...".
std::string all_choices() {
  std::string text;
  for (const Exportable& choice : exportables()) {
    text += fmt::format("{}{:02}", text.empty() ? "" : ", ", choice.forward);
    if (choice.backward != 0 && choice.backward != choice.forward)
      text += fmt::format(" with {:02}", choice.backward);
  }
  return text;
}

/// @throws UsageError that names what can be exported
const Exportable& choose(const std::vector<Lesson>& lessons) {
  const int first = lessons.front().number, last = lessons.back().number;
  for (const Exportable& choice : exportables()) {
    const bool alone = lessons.size() == 1 && choice.forward == first &&
                       (choice.backward == 0 || choice.backward == choice.forward);
    const bool pair = lessons.size() == 2 && std::min(choice.forward, choice.backward) == first &&
                      std::max(choice.forward, choice.backward) == last;
    if (alone || pair) return choice;
  }
  throw UsageError(
      fmt::format("export {}: only attention can be exported, one lesson or a forward and a "
                  "backward pass that belong together: {}.",
                  numbers_of(lessons), all_choices()));
}

/// @throws UsageError unless a folder can be made there
void require_free(const std::string& out) {
  const fs::path folder = fs::absolute(out);
  const fs::path parent = (folder.has_filename() ? folder : folder.parent_path()).parent_path();
  if (!fs::is_directory(parent))
    throw UsageError(fmt::format("--out {}: there is no folder {}.", out, parent.string()));
  if (fs::exists(folder) && !fs::is_directory(folder))
    throw UsageError(fmt::format("--out {}: that is a file.", out));
  if (fs::exists(folder) && !fs::is_empty(folder))
    throw UsageError(
        fmt::format("--out {}: that folder is not empty. Name another one, or remove it first.", out));
}

/// Both backends that are here, or the one that was asked for.
std::vector<CheckOptions> choose_backends(const Workspace& workspace, const std::string& wanted) {
  const Toolchain& toolchain = workspace.toolchain();
  std::vector<CheckOptions> chosen;
  if (wanted == "cpu" || (wanted == "auto" && toolchain.cpu))
    chosen.push_back(workspace.choose_backend("cpu"));
  if (wanted == "gpu" || (wanted == "auto" && toolchain.gpu && probe_gpu().answers))
    chosen.push_back(workspace.choose_backend("gpu"));
  if (chosen.empty()) chosen.push_back(workspace.choose_backend(wanted));  // which says what is missing
  return chosen;
}

/// A file of the package: what it is a copy of, and its name there.
struct ExportedKernel {
  fs::path file, name;
};

/// The kernels' libraries; none, and it has been said why, if one does not compile.
std::optional<std::vector<ExportedKernel>> build_parts(const Terminal& terminal, const Workspace& workspace,
                                                       const std::vector<Lesson>& lessons, bool solution,
                                                       const CheckOptions& options) {
  std::vector<KernelSource> kernels;
  for (const Lesson& lesson : lessons)
    kernels.push_back({lesson, solution ? lesson.solution() : lesson.stub(), Purpose::outputs});
  KernelQueue queue(workspace.toolchain(), kernels, options);
  std::vector<ExportedKernel> parts;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    terminal.show_progress(fmt::format("compiling {}", lessons[i].id()), i, kernels.size());
    const BuildOutcome build = queue.take(i).run;
    terminal.clear_progress();
    if (!build.ok()) {
      fmt::print("{} does not compile, and nothing was exported.\n{}", lessons[i].id(),
                 wrap(build.message, 2, terminal.width()));
      return std::nullopt;
    }
    parts.push_back({build.library, fmt::format("{}_{}.so", lessons[i].id(), backend_name(options.backend))});
  }
  const Toolchain& toolchain = workspace.toolchain();
  if (options.backend == Backend::cpu) {
    parts.push_back({toolchain.cpu.value().bridge, "bridge_cpu.so"});
    parts.push_back({toolchain.cpu.value().library, "libsimt.so"});
  } else {
    parts.push_back({toolchain.gpu.value().bridge, "bridge_gpu.so"});
  }
  return parts;
}

/// What the package knows about itself, as JSON.
std::string description(const Exportable& choice, const std::vector<Lesson>& lessons,
                        const std::vector<CheckOptions>& backends, bool solution) {
  const auto part = [&](int number) -> nlohmann::json {
    if (number == 0) return nullptr;
    const Lesson& lesson = lessons.front().number == number ? lessons.front() : lessons.back();
    return {{"lesson", number},
            {"title", lesson.title},
            {"library", lesson.id()},
            {"causal", choice.causal},
            {"groups", choice.groups}};
  };
  utsname machine{};
  uname(&machine);
  nlohmann::json names = nlohmann::json::array();
  for (const CheckOptions& options : backends) names.push_back(backend_name(options.backend));
  const nlohmann::json all{{"forward", part(choice.forward)},
                           {"backward", part(choice.backward)},
                           {"types", choice.types},
                           {"backends", names},
                           {"kernels", solution ? "worked solutions" : "student's own"},
                           {"machine", fmt::format("{}_{}", machine.sysname, machine.machine)}};
  return all.dump(2) + "\n";
}

/// The text of a file of common/export, in which @NAME@ and others stand for what they are called here.
std::string filled_in(const fs::path& file, const std::vector<std::array<std::string, 2>>& words) {
  std::string text = read_file(file);
  for (const auto& [mark, word] : words)
    for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + word.size()))
      text.replace(at, mark.size(), word);
  return text;
}

/// A package of kernels that are not right would look like one of kernels that are.
void warn_of_untested(const Terminal& terminal, const Workspace& workspace,
                      const std::vector<Lesson>& lessons) {
  const Progress progress = load_progress(progress_file(workspace.toolchain().source_dir));
  for (const Lesson& lesson : lessons) {
    const Standing standing = standing_of(lesson, progress);
    if (standing.passed() && !standing.edited_since) continue;
    fmt::print(stderr, "{}",
               wrap(fmt::format("course: your file of lesson {} has not passed its tests as it is: see "
                                "`./course check {}`. The package is made all the same.",
                                lesson.two_digits(), lesson.two_digits()),
                    0, terminal.width()));
  }
}

}  // namespace

int run_export(const Terminal& terminal, const ExportArguments& arguments) {
  Workspace workspace(terminal);
  const auto lessons = workspace.select(arguments.lessons);
  const Exportable choice = choose(lessons);
  require_free(arguments.out);
  const auto backends = choose_backends(workspace, arguments.backend);
  workspace.make_export_ready(lessons);
  std::vector<ExportedKernel> parts;
  for (const CheckOptions& options : backends) {
    const auto built = build_parts(terminal, workspace, lessons, arguments.solution, options);
    if (!built) return kSomethingFailed;
    parts.insert(parts.end(), built->begin(), built->end());
  }

  std::string name = "course_attention";
  for (const Lesson& lesson : lessons) name += "_" + lesson.two_digits();
  const fs::path out = fs::absolute(arguments.out).lexically_normal();
  const fs::path folder = out.has_filename() ? out : out.parent_path();
  const fs::path sources = workspace.toolchain().source_dir / "common/export";
  try {
    const ScratchFolder scratch(folder.parent_path());
    const fs::path package = scratch.path() / "package", module = package / name;
    fs::create_directories(module);
    for (const fs::directory_entry& entry : fs::directory_iterator(sources / "package"))
      if (entry.path().extension() == ".py") fs::copy_file(entry.path(), module / entry.path().filename());
    for (const ExportedKernel& part : parts) fs::copy_file(part.file, module / part.name);
    write_file_atomically(module / "build.json", description(choice, lessons, backends, arguments.solution));
    const std::vector<std::array<std::string, 2>> words{{"@NAME@", name}};
    for (const fs::directory_entry& entry : fs::directory_iterator(sources / "project"))
      write_file_atomically(package / entry.path().filename(), filled_in(entry.path(), words));
    fs::remove(folder);  // an empty one that was there
    fs::rename(package, folder);
  } catch (const std::system_error& error) {
    throw MachineError(fmt::format("The package cannot be written: {}.", error.what()));
  }
  if (!arguments.solution) warn_of_untested(terminal, workspace, lessons);
  const std::string shown = terminal.paint(Style::good, arguments.out);
  fmt::print(
      "{} is a package for this machine, with the {} of {}. Next:\n"
      "  pip install {}\n"
      "  python3 {}/test_attention.py\n"
      "  python3 {}/train_transformer.py   (needs PyTorch)\n",
      shown, arguments.solution ? "worked solutions" : "kernels", numbers_of(lessons), arguments.out,
      arguments.out, arguments.out);
  return kAllPassed;
}

}  // namespace course::cli
