#pragma once
/// @file
/// A lesson's solution is its stub, too: comments in it say what a student is to write, and what stands there
/// until then.
///
/// ```
///   // TODO 2: what does lse turn the score into?     the stub has the TODOs, as many as there are,
///   // stub| return 0.0f;                             this code,
///   return lse == -INFINITY ? 0.0f : expf(score - lse);
///   // [done]                                         and nothing of what stands before this line
/// ```
///
/// `// [cut]` in place of TODOs begins lines that the stub leaves out without a word. Other lines like
/// `// [kernel]` name parts of the solution for the notes; the stub has none of them.

#include <string>

namespace course::grading {

/// @brief What a student begins with.
/// @throws std::runtime_error that names the line if a part has no end, an end no part, a part begins in
/// another one, or `stub|` stands outside or behind the code of one.
std::string stub_of(const std::string& solution);

/// @brief What a student reads, and what mutants are edits of: without the TODOs, `stub|` and what encloses
/// the parts. Lines like `// [kernel]` stay.
/// @throws as stub_of().
std::string page_of(const std::string& solution);

}  // namespace course::grading
