#include "cli/staff/cluster_job.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "cli/shell_word.hpp"
#include "cli/workspace.hpp"
#include "grading/base/subprocess.hpp"

namespace course::cli {

namespace fs = std::filesystem;

std::string cluster_job(const GradeArguments& arguments, const fs::path& build,
                        const std::vector<grading::Lesson>& lessons, std::optional<std::uint64_t> secret_seed,
                        const fs::path& private_folder, unsigned parts) {
  const unsigned jobs = std::max(arguments.jobs, 1u);
  std::vector<std::string> words{(build / "bin/course-staff").string(),
                                 "grade",
                                 fs::absolute(arguments.submissions).string(),
                                 "--out",
                                 fs::absolute(arguments.out).string(),
                                 "--jobs",
                                 std::to_string(jobs),
                                 "--backend",
                                 arguments.backend,
                                 "--isolation",
                                 arguments.isolation,
                                 "--seed",
                                 std::to_string(arguments.seed)};
  if (arguments.as_root) words.emplace_back("--as-root");
  if (secret_seed) {
    grading::write_file_atomically(private_folder / "seed", std::to_string(*secret_seed));
    words.insert(words.end(), {"--secret-seed", (private_folder / "seed").string()});
  }
  words.emplace_back("--lessons");
  for (const grading::Lesson& lesson : lessons) words.push_back(std::to_string(lesson.number));
  std::string line;
  for (const std::string& word : words) line += shell_word(word) + " ";
  return fmt::format(
      "#!/bin/sh\n"
      "#SBATCH --job-name=course-grade\n"
      "#SBATCH --nodes=1\n"
      "#SBATCH --ntasks=1\n"
      "#SBATCH --cpus-per-task={}\n"
      "#SBATCH --no-requeue\n"
      "export {}={}\n"
      "exec {}--part \"$SLURM_ARRAY_TASK_ID/{}\"\n",
      jobs, Workspace::kMadeVariable, shell_word(build.string()), line, parts);
}

std::string host_name() {
  if (const char* const node = std::getenv("SLURMD_NODENAME")) return node;
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "a node";
}

}  // namespace course::cli
