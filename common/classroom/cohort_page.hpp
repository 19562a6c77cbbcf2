#pragma once
/// @file
/// The class at a glance: results/index.html.

#include <string>

#include "classroom/marks.hpp"

namespace course::classroom {

/// @brief A page of HTML with everything in it: it loads nothing and opens from disk. Its policy allows its
/// own style and script, by their hashes, and nothing else; without the script all content is there. `css`
/// and `script` are the texts of cohort.css and cohort.js; an empty script is left out. The same marks give
/// the same bytes, but for the seconds of the slowest files. Cost: one pass over all cases for each section;
/// about 100 bytes for each student and lesson.
/// @throws std::invalid_argument if `css` or `script` would end its own element, or has a carriage return,
/// which a browser changes before it compares the hash.
std::string cohort_page(const ClassMarks& marks, const std::string& css, const std::string& script);

}  // namespace course::classroom
