#include "classroom/unpack.hpp"

#include <fmt/core.h>

#include <cerrno>
#include <chrono>
#include <nlohmann/json.hpp>
#include <system_error>

#include "grading/base/machine_error.hpp"

namespace course::classroom {
namespace {

namespace fs = std::filesystem;
using grading::CommandResult;
using grading::MachineError;

// The script's exit statuses if it is not the zip's fault.
constexpr int kNoScript = 2, kMachineFailed = 3;

std::unique_ptr<grading::ScratchFolder> new_folder(const fs::path& scratch) {
  try {
    return std::make_unique<grading::ScratchFolder>(scratch);
  } catch (const std::system_error& error) {
    throw MachineError(error.what());
  }
}

CommandResult run_script(const fs::path& script, const fs::path& zip, const fs::path& target, ZipOf kind) {
  grading::Command command;
  command.arguments = {"python3", "-I", "-X", "utf8", script.string()};
  if (kind == ZipOf::whole_class) command.arguments.emplace_back("--class");
  command.arguments.insert(command.arguments.end(), {"--", fs::absolute(zip).string(), target.string()});
  command.timeout = kind == ZipOf::whole_class ? std::chrono::minutes(15) : std::chrono::minutes(2);
  command.output_limit = (kind == ZipOf::whole_class ? std::size_t{64} : std::size_t{16}) << 20;
  try {
    return grading::run_command(command);
  } catch (const std::system_error& error) {
    if (error.code().value() != ENOENT) throw MachineError(error.what());
    throw MachineError(
        "Zips are unpacked by python3, which this machine does not have; install it with apt-get install "
        "python3, or unpack the zips.");
  }
}

void read_reply(const std::string& output, Unpacked& result) {
  const auto reply = nlohmann::json::parse(output);
  reply.at("problem").get_to(result.problem);
  reply.at("ignored").get_to(result.ignored);
  for (const auto& entry : reply.at("left_out"))
    result.left_out.push_back({entry.at("file"), entry.at("sentence"), entry.value("cut_off", false)});
}

}  // namespace

Unpacked unpack(const fs::path& script, const fs::path& zip, const fs::path& scratch, ZipOf kind) {
  Unpacked result;
  result.folder = new_folder(scratch);
  const CommandResult ended = run_script(script, zip, result.folder->path(), kind);
  if (ended.signal == 0 && (ended.exit_code == kNoScript || ended.exit_code == kMachineFailed))
    throw MachineError(fmt::format("{} cannot be unpacked: {}", zip.filename().string(), ended.output));
  if (ended.timed_out || ended.signal != 0) {
    result.problem = "It takes too long to unpack.";
    return result;
  }
  try {
    read_reply(ended.output, result);
  } catch (const nlohmann::json::exception&) {
    // A zip that the script has no answer to costs its student the zip, and not the class the run.
    result.problem = "It cannot be unpacked.";
  }
  return result;
}

Unpacked unpack(const fs::path& script, const std::string& bytes, const fs::path& scratch) {
  const auto folder = new_folder(scratch);
  const fs::path zip = folder->path() / "submission.zip";
  try {
    grading::write_file_atomically(zip, bytes);
  } catch (const std::system_error& error) {
    throw MachineError(error.what());
  }
  return unpack(script, zip, scratch, ZipOf::student);
}

}  // namespace course::classroom
