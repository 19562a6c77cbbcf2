#include "simt/rewriter/includes.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <deque>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "simt/rewriter/edits.hpp"
#include "simt/rewriter/line_directive.hpp"
#include "simt/rewriter/refused_headers.hpp"
#include "simt/rewriter/vocabulary.hpp"

namespace simt {
namespace {

namespace fs = std::filesystem;

struct Include {
  std::uint32_t begin;  // the header's name in the source, quotes included
  std::uint32_t end;
  std::size_t target;  // index of the included unit
  bool beside;         // found in the including file's own folder
};

/// A file on its way from source to copy.
struct Unit {
  fs::path path;
  std::string source;
  rewriter::Lexed lexed;
  std::vector<rewriter::Edit> edits;
  std::vector<Include> includes;
  bool copied = false;
};

[[noreturn]] void fail_io(const char* what, const fs::path& path) {
  throw std::runtime_error(std::string("cannot ") + what + " " + path.string() + ": " + std::strerror(errno));
}

std::string read_text(const fs::path& path) {
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  if (fs::is_directory(path)) errno = EISDIR;
  if (!in || errno == EISDIR || (in.peek() != std::ifstream::traits_type::eof() && !(text << in.rdbuf())))
    fail_io("read", path);
  return std::move(text).str();
}

/// Through a temporary file, so that a build that is stopped leaves no half of a file.
void write_text(const fs::path& path, const std::string& text) {
  fs::path temporary = path;
  temporary += ".tmp";
  errno = 0;
  {
    std::ofstream out(temporary, std::ios::binary);
    out << text;
    out.close();
    if (!out) fail_io("write", path);
  }
  std::error_code error;
  fs::rename(temporary, path, error);
  if (error) throw std::runtime_error("cannot write " + path.string() + ": " + error.message());
}

int line_of(const std::string& source, std::size_t position) {
  return 1 + static_cast<int>(
                 std::count(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(position), '\n'));
}

/// Whether the text has the word and a `(` behind it.
bool has_call(std::string_view text, std::string_view word) {
  const auto is_part = [](unsigned char c) { return std::isalnum(c) || c == '_'; };
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const std::size_t behind = text.find_first_not_of(" \t\r\n", at + word.size());
    if ((at == 0 || !is_part(text[at - 1])) && behind != std::string_view::npos && text[behind] == '(')
      return true;
  }
  return false;
}

void examine(const RewriteJob& job, std::string_view source) {
  rewriter::check_vocabulary(source, job.source.string(), [&](const std::string& header, bool in_quotes) {
    const auto is_in = [&](const fs::path& folder) {
      std::error_code error;
      return fs::is_regular_file(folder / header, error);
    };
    return is_in(job.own_headers) ||
           (in_quotes && !header.ends_with(".cu") && is_in(job.source.parent_path())) ||
           !rewriter::refusal_of_header(header).empty();  // which says more
  });
}

class Files {
 public:
  explicit Files(const RewriteJob& job) : job_(job) {
    add(job.source);
    for (std::size_t i = 0; i < units_.size(); ++i) load(i);  // load() appends what the unit includes
    for (Unit& unit : units_)
      unit.edits = rewriter::find_edits(std::move(unit.lexed), unit.path.string(),
                                        [&](std::string_view name) { return is_called_beside(unit, name); });
    mark_copies();
  }

  void write() const {
    for (std::size_t i = 0; i < units_.size(); ++i)
      if (i == 0 || units_[i].copied) write_text(output_of(i), translated(i));
  }

  std::vector<fs::path> paths() const {
    std::vector<fs::path> result;
    for (const Unit& unit : units_) result.push_back(unit.path);
    return result;
  }

 private:
  std::size_t add(const fs::path& path) {
    std::error_code error;
    const fs::path canonical = fs::weakly_canonical(path, error);
    const auto [entry, is_new] = index_.try_emplace(error ? path : canonical, units_.size());
    if (is_new) {
      units_.emplace_back();
      units_.back().path = path;
    }
    return entry->second;
  }

  void load(std::size_t index) {
    Unit& unit = units_[index];  // stays valid: a deque does not move its elements when it grows
    unit.source = read_text(unit.path);
    const std::string name = unit.path.string();
    if (const std::size_t at = job_.own_lines ? rewriter::find_line_directive(unit.source) : unit.source.npos;
        at != unit.source.npos)
      throw RewriteError(name, line_of(unit.source, at),
                         "#line gives a file the lines of another one, and no mistake is told where it is. "
                         "Leave it out.");
    if (index == 0 && job_.only_cuda) examine(job_, unit.source);
    unit.lexed = rewriter::lex_live(unit.source, name, job_.architecture);
    unit.lexed.nested_launches = job_.nested_launches;
    unit.lexed.guards_host = job_.guards_host;
    for (const rewriter::Directive& directive : unit.lexed.directives) {
      if (directive.kind != rewriter::DirectiveKind::include || !directive.live) continue;
      if (directive.last_token - directive.first_token != 1) continue;
      const rewriter::Token header = unit.lexed.directive_tokens[directive.first_token];
      if (header.end - header.begin < 3) continue;
      add_include(unit, header, rewriter::clean_text(unit.source, header));
    }
  }

  /// Whether another file of this translation, or one of CUDA's headers, calls or declares a function of that
  /// name.
  bool is_called_beside(const Unit& unit, std::string_view name) const {
    if (std::any_of(units_.begin(), units_.end(),
                    [&](const Unit& other) { return &other != &unit && has_call(other.source, name); }))
      return true;
    if (job_.own_headers.empty()) return false;
    const fs::recursive_directory_iterator headers(job_.own_headers);
    return std::any_of(begin(headers), end(headers), [&](const fs::directory_entry& header) {
      return header.is_regular_file() && has_call(read_text(header.path()), name);
    });
  }

  void add_include(Unit& unit, const rewriter::Token& token, const std::string& quoted) {
    const bool quotes = quoted.front() == '"' && quoted.back() == '"';
    if (!quotes && (quoted.front() != '<' || quoted.back() != '>')) return;
    const fs::path name = quoted.substr(1, quoted.size() - 2);
    const auto exists = [](const fs::path& path) {
      std::error_code error;
      return fs::is_regular_file(path, error);
    };
    const fs::path beside = unit.path.parent_path() / name;
    if (quotes && exists(beside)) {
      unit.includes.push_back({token.begin, token.end, add(beside), true});
      return;
    }
    if (!job_.own_headers.empty() && exists(job_.own_headers / name)) {
      const fs::path within = name.lexically_normal();
      if (*within.begin() != ".." && std::find(own_.begin(), own_.end(), within) == own_.end())
        own_.push_back(within);
      return;
    }
    if (const std::string refusal = rewriter::refusal_of_header(name.string()); !refusal.empty())
      throw RewriteError(unit.path.string(), line_of(unit.source, token.begin), refusal);
    for (const fs::path& dir : job_.include_dirs) {
      if (!exists(dir / name)) continue;
      unit.includes.push_back({token.begin, token.end, add(dir / name), false});
      return;
    }
  }

  /// A file is copied if it changes, and so is every file that includes a copy. Includes may form circles.
  void mark_copies() {
    std::vector<std::vector<std::size_t>> includers(units_.size());
    std::vector<std::size_t> changed;
    for (std::size_t i = 0; i < units_.size(); ++i) {
      for (const Include& include : units_[i].includes) includers[include.target].push_back(i);
      units_[i].copied = !units_[i].edits.empty();
      if (units_[i].copied) changed.push_back(i);
    }
    while (!changed.empty()) {
      const std::size_t unit = changed.back();
      changed.pop_back();
      for (const std::size_t includer : includers[unit]) {
        if (units_[includer].copied) continue;
        units_[includer].copied = true;
        changed.push_back(includer);
      }
    }
  }

  fs::path output_of(std::size_t index) const {
    if (index == 0) return job_.output;
    fs::path result = job_.output;
    return result += "." + std::to_string(index) + "." + units_[index].path.filename().string();
  }

  std::string translated(std::size_t index) const {
    const Unit& unit = units_[index];
    std::vector<rewriter::Edit> edits = unit.edits;
    for (const Include& include : unit.includes) {
      const Unit& target = units_[include.target];
      if (target.copied) {
        edits.push_back(
            {include.begin, include.end, '"' + output_of(include.target).filename().string() + '"'});
      } else if (index != 0 && include.beside) {
        // The copy has moved away from what lies beside its original.
        edits.push_back(
            {include.begin, include.end, '"' + fs::absolute(target.path).lexically_normal().string() + '"'});
      }
    }
    std::sort(edits.begin(), edits.end(), [](const auto& a, const auto& b) {
      return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
    });
    std::string first;  // no macro of the file's is to change a header of CUDA's
    if (index == 0 && job_.own_lines)
      for (const fs::path& header : own_) first += "#include <" + header.string() + ">\n";
    return first + rewriter::apply_edits(unit.source, unit.path.string(), edits);
  }

  const RewriteJob& job_;
  std::deque<Unit> units_;
  std::map<fs::path, std::size_t> index_;
  std::vector<fs::path> own_;  // headers of CUDA's that these include
};

/// A path as make reads it.
std::string escaped(const fs::path& path) {
  std::string result;
  for (const char c : path.string()) {
    if (c == ' ' || c == '#') result += '\\';
    if (c == '$') result += '$';
    result += c;
  }
  return result;
}

}  // namespace

std::vector<std::filesystem::path> rewrite_file(const RewriteJob& job) {
  const Files files(job);
  files.write();
  return files.paths();
}

void examine_file(const RewriteJob& job) { examine(job, read_text(job.source)); }

void examine_names_after_macros(const RewriteJob& job, const std::filesystem::path& preprocessed) {
  rewriter::check_names_after_macros(read_text(preprocessed), job.own_headers.string());
}

void write_depfile(const std::filesystem::path& depfile, const std::filesystem::path& output,
                   const std::vector<std::filesystem::path>& dependencies) {
  std::string text = escaped(output) + ":";
  for (const fs::path& dependency : dependencies) text += " \\\n  " + escaped(dependency);
  write_text(depfile, text + "\n");
}

}  // namespace simt
