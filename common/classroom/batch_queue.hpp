#pragma once
/// @file
/// A cluster's queue of jobs, as its own commands serve it.

#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>

namespace course::classroom {

class BatchQueue {
 public:
  BatchQueue() = default;
  BatchQueue(const BatchQueue&) = delete;
  BatchQueue& operator=(const BatchQueue&) = delete;
  virtual ~BatchQueue() = default;

  /// @brief Has the script run once for each part, with the part's number in SLURM_ARRAY_TASK_ID; what a run
  /// prints goes to "NUMBER.log" beside the script.
  /// @return the job's number
  /// @throws grading::MachineError, in a sentence
  virtual std::string submit(const std::filesystem::path& script, const std::set<unsigned>& parts) = 0;

  /// @brief The parts of a job that wait or run; nothing if the queue does not answer.
  virtual std::optional<std::set<unsigned>> unfinished(const std::string& job) = 0;

  /// @brief Ends a job if it is there. Also after a signal has asked this program to end.
  virtual void cancel(const std::string& job) noexcept = 0;
};

/// @throws grading::MachineError if Slurm's commands are not on PATH
std::unique_ptr<BatchQueue> make_slurm_queue();

}  // namespace course::classroom
