#pragma once
/// @file
/// The command that a task of a cluster runs.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "grading/project/lesson.hpp"

namespace course::cli {

/// @brief A script for sbatch that judges part $SLURM_ARRAY_TASK_ID of `parts` as this run would. A secret
/// seed goes to a file in `private_folder`, since everybody can read what a job runs.
/// @throws std::system_error
std::string cluster_job(const GradeArguments& arguments, const std::filesystem::path& build,
                        const std::vector<grading::Lesson>& lessons, std::optional<std::uint64_t> secret_seed,
                        const std::filesystem::path& private_folder, unsigned parts);

/// Of this machine.
std::string host_name();

}  // namespace course::cli
