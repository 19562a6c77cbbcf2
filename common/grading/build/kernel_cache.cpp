#include "grading/build/kernel_cache.hpp"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "grading/base/subprocess.hpp"

namespace course::grading {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::uintmax_t kCacheBytes = 256u << 20;
constexpr auto kInUse =
    std::chrono::minutes(30);  // a run compiles ahead, and may come to a library only then
constexpr auto kForgotten = std::chrono::hours(1);  // no build takes this long

}  // namespace

ContentHash& ContentHash::add(std::string_view bytes) {
  __extension__ using Wide = unsigned __int128;
  constexpr Wide kPrime = (Wide{1} << 88) + 0x13b;
  Wide hash = (Wide{high_} << 64) | low_;
  const auto mix = [&](unsigned char byte) { hash = (hash ^ byte) * kPrime; };
  for (const char c : bytes) mix(static_cast<unsigned char>(c));
  for (std::size_t size = bytes.size(), i = 0; i < sizeof size; ++i, size >>= 8)
    mix(static_cast<unsigned char>(size));
  high_ = static_cast<std::uint64_t>(hash >> 64);
  low_ = static_cast<std::uint64_t>(hash);
  return *this;
}

std::string ContentHash::hex() const {
  std::string digits;
  for (const std::uint64_t half : {high_, low_}) {
    for (int shift = 60; shift >= 0; shift -= 4) digits += "0123456789abcdef"[(half >> shift) & 15];
  }
  return digits;
}

std::string hash_file(const fs::path& file) {
  try {
    return ContentHash().add(read_file(file)).hex();
  } catch (const std::exception&) {
    return "";
  }
}

std::string identity(const fs::path& program) {
  std::error_code missing;
  const fs::path real = fs::canonical(program, missing);
  if (missing) return program.string();
  return real.string() + " " + std::to_string(fs::file_size(real, missing)) + " " +
         std::to_string(fs::last_write_time(real, missing).time_since_epoch().count());
}

std::vector<fs::path> read_depfile(const fs::path& file) {
  const std::string text = read_file(file);
  std::vector<fs::path> files;
  std::string word;
  bool in_target = true;
  const auto end_word = [&] {
    if (word.empty()) return;
    if (in_target) {
      in_target = !word.ends_with(':');
    } else {
      files.emplace_back(word);
    }
    word.clear();
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (text[i] == '\\' && (next == ' ' || next == '#' || next == '\\')) {
      word += next;
      ++i;
    } else if (text[i] == '$' && next == '$') {
      word += '$';
      ++i;
    } else if (text[i] == ' ' || text[i] == '\n' || text[i] == '\t' || (text[i] == '\\' && next == '\n')) {
      end_word();
      if (text[i] == '\n' && !in_target && (i == 0 || text[i - 1] != '\\')) in_target = true;
    } else {
      word += text[i];
    }
  }
  end_word();
  return files;
}

std::optional<fs::path> KernelCache::find(const std::string& key) const {
  try {
    const fs::path record_file = folder_ / (key + ".json");
    if (!fs::exists(record_file)) return std::nullopt;
    const json record = json::parse(read_file(record_file));
    for (const auto& [file, hash] : record.at("inputs").items()) {
      if (hash_file(file) != hash.get<std::string>()) return std::nullopt;
    }
    fs::path library = folder_ / record.at("library").get<std::string>();
    if (!fs::exists(library)) return std::nullopt;
    std::error_code ignored;  // a read-only cache is still a cache
    fs::last_write_time(record_file, fs::file_time_type::clock::now(), ignored);
    return library;
  } catch (const std::exception&) {
    return std::nullopt;  // a damaged record is one that is not there
  }
}

fs::path KernelCache::publish(const std::string& key, const fs::path& library,
                              const std::vector<fs::path>& inputs, fs::file_time_type started) const {
  json record;
  bool settled = true;
  ContentHash content;
  content.add(key);
  for (const fs::path& input : inputs) {
    const std::string hash = hash_file(input);
    record["inputs"][input.string()] = hash;
    content.add(hash);
    std::error_code gone;
    settled = settled && fs::last_write_time(input, gone) < started && !gone;
  }
  const fs::path published = folder_ / (key + "-" + content.hex().substr(0, 16) + ".so");
  record["library"] = published.filename().string();
  fs::rename(library, published);
  if (settled) write_file_atomically(folder_ / (key + ".json"), record.dump());
  prune(kCacheBytes);
  return published;
}

void KernelCache::prune(std::uintmax_t bytes) const {
  struct Library {
    fs::file_time_type used;
    fs::path file;
    std::uintmax_t bytes;
  };
  std::vector<Library> libraries;
  std::uintmax_t total = 0;
  std::error_code error;  // another process may remove files at the same time
  const auto now = fs::file_time_type::clock::now();
  for (const auto& entry : fs::directory_iterator(folder_, error)) {
    const fs::path& file = entry.path();
    const auto written = fs::last_write_time(file, error);
    if (error) continue;
    if (file.filename().string().starts_with(".scratch-") && now - written > kForgotten)
      fs::remove_all(file, error);
    if (file.extension() != ".so") continue;
    const std::string stem = file.stem().string();
    const fs::path record = folder_ / (stem.substr(0, stem.rfind('-')) + ".json");
    const auto used = std::max(written, fs::last_write_time(record, error));
    libraries.push_back({error ? written : used, file, fs::file_size(file, error)});
    total += libraries.back().bytes;
  }
  std::sort(libraries.begin(), libraries.end(),
            [](const Library& a, const Library& b) { return a.used < b.used; });
  for (const Library& library : libraries) {
    if (total <= bytes || now - library.used < kInUse) break;
    const std::string stem = library.file.stem().string();
    fs::remove(folder_ / (stem.substr(0, stem.rfind('-')) + ".json"), error);
    fs::remove(library.file, error);
    total -= library.bytes;
  }
}

}  // namespace course::grading
