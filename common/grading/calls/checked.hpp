#pragma once

#include <string_view>

#include "grading/facts/outcome.hpp"

namespace course::grading {

/// @brief Adds to the outcome of run mode what the same call came to in check mode: findings, and the profile
/// if both came to the same end. Where both tell of the same fault, the finding of check mode stays. A call
/// that came to another end in check mode has failed, unless an error of check mode fails its case already:
/// otherwise a file could choose whether check mode looks.
/// A call that returned in both, but `differs` in how it did (a sentence), has failed as well.
void add_checked(Outcome& outcome, Outcome checked, std::string_view differs = {});

/// @brief Adds the note that check mode could not run the call.
void add_not_checked(Outcome& outcome, std::string_view why);

}  // namespace course::grading
