// simt-rewrite IN.cu --examine [--own-headers dir]
// simt-rewrite IN.cu --examine-preprocessed FILE [--own-headers dir]
// simt-rewrite IN.cu -o OUT.cpp [-I dir]... [--arch N] [--nested-launches] [--guard-host] [--own-lines]
// [--only-cuda]
// [--own-headers dir] [--depfile FILE] Makes C++ for a host compiler and the simulator's headers of a CUDA
// file. Exit status: 0 done, 1 failed, 2 wrong usage.

#include <charconv>
#include <cstdio>
#include <exception>
#include <optional>
#include <string_view>

#include "simt/rewriter/includes.hpp"

namespace {

constexpr const char* kUsage =
    "usage: simt-rewrite IN.cu -o OUT.cpp [-I dir]... [--arch N] [--nested-launches] [--guard-host] "
    "[--own-lines] "
    "[--only-cuda] [--own-headers dir] [--depfile FILE]\n"
    "       simt-rewrite IN.cu --examine [--own-headers dir]\n"
    "       simt-rewrite IN.cu --examine-preprocessed FILE [--own-headers dir]\n";

struct Options {
  simt::RewriteJob job;
  std::filesystem::path depfile, preprocessed;
  bool examine = false;
};

std::optional<Options> parse(int count, char** arguments) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string_view argument = arguments[i];
    const bool has_value = argument == "-o" || argument == "-I" || argument == "--depfile" ||
                           argument == "--arch" || argument == "--own-headers" ||
                           argument == "--examine-preprocessed";
    if (has_value) {
      if (++i == count) return std::nullopt;
      if (argument == "-o") options.job.output = arguments[i];
      if (argument == "-I") options.job.include_dirs.emplace_back(arguments[i]);
      if (argument == "--arch") {
        const std::string_view number = arguments[i];
        const auto [end, error] =
            std::from_chars(number.data(), number.data() + number.size(), options.job.architecture);
        if (error != std::errc() || end != number.data() + number.size()) return std::nullopt;
      }
      if (argument == "--own-headers") options.job.own_headers = arguments[i];
      if (argument == "--depfile") options.depfile = arguments[i];
      if (argument == "--examine-preprocessed") options.preprocessed = arguments[i];
    } else if (argument == "--nested-launches") {
      options.job.nested_launches = true;
    } else if (argument == "--guard-host") {
      options.job.guards_host = true;
    } else if (argument == "--own-lines") {
      options.job.own_lines = true;
    } else if (argument == "--examine") {
      options.examine = true;
    } else if (argument == "--only-cuda") {
      options.job.only_cuda = true;
    } else if (argument.starts_with("-I")) {
      options.job.include_dirs.emplace_back(argument.substr(2));
    } else if (argument.starts_with("-") || !options.job.source.empty()) {
      return std::nullopt;
    } else {
      options.job.source = argument;
    }
  }
  const bool only_examines = options.examine || !options.preprocessed.empty();
  if (options.job.source.empty() || options.job.output.empty() != only_examines) return std::nullopt;
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc == 2 && (std::string_view(argv[1]) == "--help" || std::string_view(argv[1]) == "-h")) {
      std::fputs(kUsage, stdout);
      return 0;
    }
    const std::optional<Options> options = parse(argc, argv);
    if (!options) {
      std::fputs(kUsage, stderr);
      return 2;
    }
    if (options->examine) simt::examine_file(options->job);
    if (!options->preprocessed.empty()) simt::examine_names_after_macros(options->job, options->preprocessed);
    if (options->job.output.empty()) return 0;
    const auto dependencies = simt::rewrite_file(options->job);
    if (!options->depfile.empty()) simt::write_depfile(options->depfile, options->job.output, dependencies);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
