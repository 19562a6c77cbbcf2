#pragma once
/// @file
/// The parts of a class on a cluster: who is still at work, and which part has to run again.

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "classroom/batch_queue.hpp"
#include "classroom/verdict.hpp"

namespace course::classroom {

struct ClusterOrder {
  std::filesystem::path folder;  ///< parts_folder(), which all nodes share
  std::string script;            ///< text of the job, which judges part $SLURM_ARRAY_TASK_ID
  unsigned parts = 1;
  std::string conditions;                                     ///< as each PartState must have them
  std::chrono::milliseconds pause = std::chrono::seconds(3);  ///< between two questions to the queue
  std::function<void(const std::string&)> on_note;            ///< a sentence about what did not go well
};

/// Of one thread.
class ClusterRun {
 public:
  /// A part that ends this often without having judged anything is given up.
  static constexpr unsigned kTries = 3;

  /// @brief Submits all parts. What an earlier run has left in the folder is cancelled and removed.
  /// @throws grading::MachineError
  ClusterRun(BatchQueue& queue, const VerdictStore& store, ClusterOrder order);
  ~ClusterRun();  ///< cancels what still runs
  ClusterRun(const ClusterRun&) = delete;
  ClusterRun& operator=(const ClusterRun&) = delete;

  /// @brief Waits until the store has the verdict; parts that die meanwhile run again.
  /// @return Standing::ungraded, with a reason, if its part is given up
  /// @throws grading::MachineError if no part comes to anything; grading::Interrupted
  FileVerdict wait_for(std::size_t file, const std::string& conditions, const std::string& content);

 private:
  struct PartRun {
    std::string job;     ///< empty once it has left the queue
    unsigned tries = 0;  ///< that came to nothing
    std::string last;    ///< how the last one ended, a sentence
    bool given_up = false;
  };
  void submit(const std::set<unsigned>& parts);
  void look();
  bool must_run_again(unsigned number, const std::string& problem, bool came_to_nothing);
  std::string words_about(unsigned number) const;

  BatchQueue& queue_;
  const VerdictStore& store_;
  ClusterOrder order_;
  std::vector<PartRun> parts_;  ///< the first is at 0
  std::vector<std::string> jobs_;
  std::chrono::steady_clock::time_point looked_ = std::chrono::steady_clock::now();
  bool any_began_ = false;  ///< a part has left its state
  bool silent_ = false;     ///< the queue did not answer
};

}  // namespace course::classroom
