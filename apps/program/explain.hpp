// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "quadrat/tune/explanation.hpp"

namespace CLI {
class App;
}

namespace quadrat::program {

/// Adds --explain.
void add_explain_option(CLI::App& command, bool& explain);

/// The result of a command as JSON, with "explanation" if requested.
[[nodiscard]] std::string explained_json(nlohmann::ordered_json result, bool explain, const explanation& why);
/// The same as text.
[[nodiscard]] std::string explained_text(const std::string& result, bool explain, const explanation& why);

}  // namespace quadrat::program
