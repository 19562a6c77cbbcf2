#pragma once

namespace course::grading {

/// What the backend's own runtime has to go on doing once the worker is confined.
struct Privileges {
  bool start_threads = false;  ///< a GPU's driver starts some as it needs them
  bool write_files = false;    ///< and opens its devices for writing
};

/// @brief Gives up, for this process and for good, what a kernel has no need of: other processes, sockets,
/// other processes' memory, kernel interfaces that attacks go through, changes to files, writing anywhere but
/// to the standard output and error, core dumps, and most descriptors. Code that tries is ended, with a
/// sentence that names the system call; see report_fatal(). x86-64 only. Call it while the process has the
/// threads that it needs and before it loads code of others.
/// @throws std::system_error if the system does not take the filter.
void confine(const Privileges& privileges);

/// @brief Gives up, for this process and for good, what loading takes: to map memory that holds code, which
/// until then only the loader may, and to read from any descriptor but the standard input. Files can still be
/// mapped.
/// @throws std::system_error if the system does not take the filter.
void end_loading();

}  // namespace course::grading
