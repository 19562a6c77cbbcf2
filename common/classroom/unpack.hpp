#pragma once
/// @file
/// Zips, unpacked by common/classroom/unpack_submissions.py in a process of its own.

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "grading/base/subprocess.hpp"

namespace course::classroom {

/// A file that should have been unpacked and was not.
struct LeftOut {
  std::string file;      ///< within the zip; empty if its name is not fit to be one
  std::string sentence;  ///< why, for whoever packed it
  bool cut_off = false;  ///< the class is too large, and so is more of the student's; that is not their fault
};

/// What came out of a zip. The folder goes with this object.
struct Unpacked {
  std::unique_ptr<grading::ScratchFolder> folder;
  std::string problem;  ///< why nothing was unpacked, in a sentence; empty if something was
  std::vector<LeftOut> left_out;
  std::vector<std::string> ignored;  ///< files that no lesson wants, on one line each
};

enum class ZipOf { student, whole_class };

/// @brief Unpacks a zip into a new folder below `scratch`.
/// @throws grading::MachineError if there is no python3, or no space
Unpacked unpack(const std::filesystem::path& script, const std::filesystem::path& zip,
                const std::filesystem::path& scratch, ZipOf kind);

/// @brief The same for a zip of which the bytes are here.
Unpacked unpack(const std::filesystem::path& script, const std::string& bytes,
                const std::filesystem::path& scratch);

}  // namespace course::classroom
