#include "attention/golden.hpp"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tensor/npy.hpp"

namespace course::attention_tests {

namespace {

std::filesystem::path golden_folder() {
  return std::filesystem::path(__FILE__).parent_path().parent_path().parent_path() / "reference" /
         "golden_16_torch";
}

template <class T>
Tensor<T> read(const std::string& name, const std::string& file) {
  return read_npy<T>(golden_folder() / name / (file + ".npy"));
}

Tensor<float> read_16_bits(const std::string& name, const std::string& file, Format16 format) {
  return format == Format16::bfloat16 ? read<bfloat16>(name, file).to<float>()
                                      : read<float16>(name, file).to<float>();
}

}  // namespace

Tensor<double> Golden::result(const std::string& file) const { return read<double>(name, file); }

std::vector<Golden> golden_cases_of_16_bits() {
  std::ifstream file(golden_folder() / "cases.json");
  const auto root = nlohmann::json::parse(file);
  std::vector<Golden> cases;
  for (const auto& x : root.at("cases")) {
    const std::string name = x.at("name");
    const Format16 format = x.at("format") == "bfloat16" ? Format16::bfloat16 : Format16::float16;
    reference::Mask mask{.causal = x.at("causal"), .sinks = x.at("sinks")};
    if (!x.at("window").is_null()) mask.window = x.at("window");
    Problem p{read_16_bits(name, "q", format), read_16_bits(name, "k", format),
              read_16_bits(name, "v", format), x.at("scale"), mask};
    if (x.at("sink")) p.sink = read<float>(name, "sink");
    p.format = format;
    cases.push_back({name, std::move(p), read_16_bits(name, "dout", format), x.at("gradients")});
  }
  return cases;
}

}  // namespace course::attention_tests
