// SPDX-License-Identifier: BSD-3-Clause
#include "program/explain.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace quadrat::program {

void add_explain_option(CLI::App& command, bool& explain) {
  command.add_flag("--explain", explain,
                   "also print the expected time of each method, and the data on which the choice is based");
}

std::string explained_json(nlohmann::ordered_json result, bool explain, const explanation& why) {
  if (explain) result["explanation"] = nlohmann::ordered_json::parse(why.json());
  return result.dump(2);
}

std::string explained_text(const std::string& result, bool explain, const explanation& why) {
  return explain ? result + why.text() : result;
}

}  // namespace quadrat::program
