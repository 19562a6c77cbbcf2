#pragma once
/// @file
/// A small text file that a program reads when it starts and replaces when it ends. For programs around the
/// lessons: a lesson's own code may open no file where it is judged in a sandbox.

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

namespace course::device {

/// @brief What the file holds; nothing if there is none, or if it cannot be read.
inline std::string read_text(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  if (stream) text << stream.rdbuf();
  return text.str();
}

/// @brief Makes the file hold this text. Whoever reads it at any moment sees the old text or the new one, and
/// so it is after a crash: the text goes to FILE.new, which then takes the file's place.
/// @throws std::runtime_error if it cannot be written; the file then holds what it held.
inline void replace_text(const std::filesystem::path& file, const std::string& text) {
  const std::filesystem::path fresh = file.string() + ".new";
  std::ofstream stream(fresh, std::ios::binary | std::ios::trunc);
  stream << text;
  stream.close();  // a full disk shows here at the latest
  std::error_code problem;
  if (stream) std::filesystem::rename(fresh, file, problem);
  if (!stream || problem) {
    std::error_code ignored;
    std::filesystem::remove(fresh, ignored);
    throw std::runtime_error("The file " + file.string() + " cannot be written.");
  }
}

}  // namespace course::device
