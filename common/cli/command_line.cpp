#include "cli/command_line.hpp"

#include <fmt/core.h>

namespace course::cli {

CLI::Option* add_backend(CLI::App* command, std::string& backend) {
  return command->add_option("--backend", backend, "auto: a GPU if one answers, else the simulator")
      ->check(CLI::IsMember({"auto", "cpu", "gpu"}))
      ->capture_default_str();
}

std::function<std::string(const std::string&)> whole_number(std::int64_t least) {
  return [least](const std::string& text) {
    const bool digits =
        !text.empty() && text.size() <= 18 && text.find_first_not_of("0123456789") == std::string::npos;
    return digits && std::stoll(text) >= least
               ? std::string()
               : fmt::format("it must be a whole number from {} on, not {}.", least, text);
  };
}

CLI::Option* add_settings(CLI::App* command, std::vector<std::string>& settings) {
  const auto wrong = [](const std::string& setting) {
    const std::size_t equals = setting.find('=');
    return equals == 0 || equals == std::string::npos ? fmt::format("write {} as name=value.", setting)
                                                      : std::string();
  };
  return command->add_option("--set", settings, "name=value, once for each setting")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false)
      ->check(wrong);
}

}  // namespace course::cli
