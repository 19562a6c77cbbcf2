#include "grading/confinement/confinement.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "grading/base/subprocess.hpp"

namespace course::grading {

std::string to_json(const Confinement& confinement) {
  return nlohmann::json{{"launcher", confinement.launcher},
                        {"memory_bytes", confinement.memory_bytes},
                        {"one_call", confinement.one_call}}
      .dump();
}

Confinement read_confinement(const std::filesystem::path& file) try {
  const nlohmann::json value = nlohmann::json::parse(read_file(file));
  Confinement confinement;
  value.at("launcher").get_to(confinement.launcher);
  value.at("memory_bytes").get_to(confinement.memory_bytes);
  value.at("one_call").get_to(confinement.one_call);
  return confinement;
} catch (const nlohmann::json::exception& error) {
  throw std::runtime_error(
      fmt::format("{} does not describe a confinement: {}.", file.string(), error.what()));
}

}  // namespace course::grading
