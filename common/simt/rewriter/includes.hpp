#pragma once

#include <filesystem>
#include <vector>

#include "simt/rewriter/rewriter.hpp"

namespace simt {

/// What rewrite_file() is to do.
struct RewriteJob {
  std::filesystem::path source;  ///< Stands in `#line` directives and errors as it is given here.
  std::filesystem::path output;  ///< Its folder receives the copies of headers as well.
  std::vector<std::filesystem::path>
      include_dirs;                         ///< Where quoted includes are searched after their own folder.
  std::filesystem::path own_headers{};      ///< Folder with CUDA's headers as the simulator has them.
  int architecture = kDefaultArchitecture;  ///< `__CUDA_ARCH__` in device code.
  bool nested_launches = false;             ///< Kernels may launch kernels.
  bool guards_host = false;                 ///< Functions of the host end a kernel that calls them.
  /// Each line is to be told as the one that it is: refuses `#line`, and includes what `own_headers` has
  /// before the first line, so that nothing in such a header comes from a macro of the source.
  bool own_lines = false;
  bool only_cuda = false;  ///< Refuses words in the source that are no CUDA C++: see vocabulary.hpp.
};

/// @brief Rewrites a file and those of its headers that need it.
///
/// Includes are followed, recursively, if they are found in `include_dirs` and, those in quotes, beside the
/// file that has them. What `own_headers` has is not followed, wherever else it lies as well. A header that
/// has something to translate, or that includes such a header, is written beside the output as
/// `<output name>.<number>.<header name>`, and the includes of it name the copy. All other headers are used
/// from where they are: compile the output with `-iquote <folder of the source>` and with `-I` for each of
/// `include_dirs`. Includes that are not found, and those in code that is never compiled
/// (see rewrite()) stay as they are.
///
/// @return Every file that was read, the source first: what the output depends on.
/// @throws RewriteError as rewrite() does, for any of these files; std::runtime_error if a file cannot be
/// read or written.
std::vector<std::filesystem::path> rewrite_file(const RewriteJob& job);

/// @brief Refuses a source with words in it that are no CUDA C++, and makes nothing of it: see
/// vocabulary.hpp.
/// @throws RewriteError, std::runtime_error if the file cannot be read.
void examine_file(const RewriteJob& job);

/// @brief Refuses a source whose macros make names of the simulator's: see vocabulary.hpp.
/// @param preprocessed The file with what g++ -E makes of the rewritten source.
/// @throws RewriteError, std::runtime_error if a file cannot be read.
void examine_names_after_macros(const RewriteJob& job, const std::filesystem::path& preprocessed);

/// @brief Writes a rule for make and ninja that says on which files the output depends.
/// @throws std::runtime_error if the file cannot be written.
void write_depfile(const std::filesystem::path& depfile, const std::filesystem::path& output,
                   const std::vector<std::filesystem::path>& dependencies);

}  // namespace simt
