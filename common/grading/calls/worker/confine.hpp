#pragma once

namespace course::grading {

/// What the backend's own runtime has to go on doing once the worker is confined.
struct Privileges {
  bool start_threads = false;  ///< a GPU's driver starts some as it needs them
  bool write_files = false;    ///< and opens its devices for writing
};

/// @brief Gives up, for this process and for good, what a kernel has no need of: other processes, sockets,
/// other processes' memory, kernel interfaces that attacks go through, changes to files, core dumps, and most
/// descriptors. Code that tries is ended, with a sentence that names the system call; see report_fatal().
/// x86-64 only. Call it while the process has the threads that it needs and before it loads code of others.
/// @throws std::system_error if the system does not take the filter.
void confine(const Privileges& privileges);

/// @brief Gives up, for this process and for good, to map memory that holds code. Call it once the libraries
/// are loaded: while they are, only the loader may.
/// @throws std::system_error if the system does not take the filter.
void forbid_new_code();

}  // namespace course::grading
