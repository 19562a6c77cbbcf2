#pragma once
/// @file
/// The Markdown of hints as plain text for a terminal.

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace course::cli {

/// @brief Paragraphs and lists wrapped, code kept line by line, each line indented by `indent` spaces and at
/// most `width` columns wide. Marks of emphasis are dropped, or become quotes around several words. A link
/// to a file becomes the file's name from the project's folder on.
/// @param folder where the text stands, from the project's folder on: "lessons/04_safe_softmax"
std::string plain_text(std::string_view markdown, const std::filesystem::path& folder, std::size_t indent,
                       std::size_t width);

}  // namespace course::cli
