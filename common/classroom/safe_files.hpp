#pragma once
/// @file
/// Reading folders that somebody hostile may have filled: no link is followed, nothing but a regular file is
/// opened, and nothing depends on the order in which the system lists names.

#include <sys/types.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "grading/base/descriptor.hpp"

namespace course::classroom {

/// A regular file's content, or why there is none.
struct FileContent {
  std::string content;
  std::string problem;        ///< what follows the file's name in a sentence: "is a symbolic link; ..."
  bool unreadable = false;    ///< the problem is this machine's, such as a right that it lacks
  std::int64_t modified = 0;  ///< seconds since 1970; 0 if nobody knows
};

/// @brief What lies behind a name in a folder, without following it: st_mode, or 0 if there is nothing.
mode_t mode_of(int folder, const std::string& name);

/// @brief What follows the name in a sentence, of a file or folder that errno says this machine cannot read.
std::string why_unreadable(int error);

/// @brief Opens a regular file below an open folder, without waiting for whatever else it may be.
/// @return no descriptor and, in `result`, why
grading::Descriptor open_regular(int folder, const std::string& name, FileContent& result);

/// @brief Reads a regular file of at most `limit` bytes below an open folder.
/// @throws grading::MachineError if the machine is out of descriptors or memory, or its disk fails
FileContent read_regular(int folder, const std::string& name, std::uintmax_t limit);

/// @brief Opens a folder by the names of the folders on the way, none of which may be a link.
/// @return no descriptor, with errno set, if it cannot be opened
grading::Descriptor open_folder(int folder, const std::vector<std::string>& names);

struct Names {
  std::vector<std::string> names;  ///< sorted by bytes; hidden ones are passed over
  std::set<std::string> hidden;    ///< the first of these that no tool has made
  bool cut = false;                ///< there are more than `limit`; the first ones in order are given
};

/// @brief The names in an open folder. Cost: memory for `limit` names, however many there are.
Names names_in(int folder, std::size_t limit);

/// @brief The one folder that lies in an open folder, with nothing beside it and the name `called`, with or
/// without .zip; empty if that is not so. Zips and downloads often have such a folder around everything.
std::string only_folder(int folder, const std::string& called);

/// @brief Throws if errno says that the machine is at its end, and not that something is wrong with one file.
/// @throws grading::MachineError
void throw_if_machine_fails(int error, const std::string& what);

}  // namespace course::classroom
