#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include "simt/rewriter/rewriter.hpp"
#include "support/catch.hpp"

namespace simt::test {

/// The rewritten text of file.cu, without the `#line` directive in front.
inline std::string rewritten(std::string_view source) {
  const std::string result = rewrite(source, "file.cu");
  constexpr std::string_view kHeader = "#line 1 \"file.cu\"\n";
  REQUIRE(std::string_view(result).substr(0, kHeader.size()) == kHeader);
  return result.substr(kHeader.size());
}

/// What rewriting file.cu is refused with: "line: message", or nothing if it is not refused.
inline std::string refusal(std::string_view source) {
  try {
    rewrite(source, "file.cu");
  } catch (const RewriteError& error) {
    CHECK(error.file == "file.cu");
    CHECK(std::string(error.what()) == "file.cu:" + std::to_string(error.line) + ": " + error.message);
    return std::to_string(error.line) + ": " + error.message;
  }
  return "";
}

/// The lambdas of a launch of `name`; the second one does `call`.
inline std::string lambdas(const std::string& name, const std::string& call) {
  const std::string known = "simt_kernel(" + name + ")";
  return "[&](auto simt_kernel) -> decltype(" + known + ") { return " + known +
         "; }, [&](auto&... simt_args) { " + call + " }";
}
inline std::string lambdas(const std::string& name) { return lambdas(name, name + "(simt_args...);"); }

/// What a launch of `name` becomes.
inline std::string launch(const std::string& name, const std::string& config, const std::string& arguments) {
  return "::simt::launch(\"" + name + "\", ::simt::LaunchConfig(" + config + "), " + lambdas(name) + ")(" +
         arguments + ")";
}

inline std::string read(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  REQUIRE(in);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

inline void write(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

}  // namespace simt::test
