#include "grading/project/toolchain.hpp"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "grading/base/subprocess.hpp"

namespace course::grading {
namespace {

using nlohmann::json;

std::vector<std::string> strings(const json& object, const char* key) {
  return object.at(key).get<std::vector<std::string>>();
}

std::filesystem::path path(const json& object, const char* key) { return object.at(key).get<std::string>(); }

CpuToolchain read_cpu(const json& object) {
  return {.compiler = path(object, "compiler"),
          .flags = strings(object, "flags"),
          .quick_flags = strings(object, "quick_flags"),
          .check_flags = strings(object, "check_flags"),
          .link_flags = strings(object, "link_flags"),
          .check_link_flags = strings(object, "check_link_flags"),
          .fast_link_flags = strings(object, "fast_link_flags"),
          .library = path(object, "library"),
          .worker = path(object, "worker"),
          .bridge = path(object, "bridge"),
          .program_support = path(object, "program_support"),
          .prelude = path(object, "prelude"),
          .quick_prelude = path(object, "quick_prelude"),
          .check_prelude = path(object, "check_prelude")};
}

GpuToolchain read_gpu(const json& object) {
  return {.compiler = path(object, "compiler"),
          .host_compiler = path(object, "host_compiler"),
          .flags = strings(object, "flags"),
          .quick_flags = strings(object, "quick_flags"),
          .link_flags = strings(object, "link_flags"),
          .architectures = strings(object, "architectures"),
          .ledger = path(object, "ledger"),
          .worker = path(object, "worker"),
          .bridge = path(object, "bridge")};
}

}  // namespace

const char* backend_name(Backend backend) { return backend == Backend::cpu ? "cpu" : "gpu"; }

const std::filesystem::path& Toolchain::worker(Backend backend) const {
  return backend == Backend::cpu ? cpu.value().worker : gpu.value().worker;
}

Toolchain Toolchain::read(const std::filesystem::path& file) {
  try {
    const json root = json::parse(read_file(file));
    Toolchain toolchain;
    toolchain.source_dir = path(root, "source_dir");
    toolchain.binary_dir = path(root, "binary_dir");
    toolchain.ninja = path(root, "ninja");
    toolchain.ctest = path(root, "ctest");
    toolchain.rewriter = path(root, "rewriter");
    if (!root.at("cpu").is_null()) toolchain.cpu = read_cpu(root.at("cpu"));
    if (!root.at("gpu").is_null()) toolchain.gpu = read_gpu(root.at("gpu"));
    for (const json& lesson : root.at("lessons")) {
      toolchain.lessons[lesson.at("folder").get<std::string>()] = {path(lesson, "entries"),
                                                                   path(lesson, "test")};
    }
    return toolchain;
  } catch (const std::exception& error) {
    throw std::runtime_error("cannot use " + file.string() + ": " + error.what() +
                             ". Run `course` from the project's folder, which writes it anew.");
  }
}

}  // namespace course::grading
