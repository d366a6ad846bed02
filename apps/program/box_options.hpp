// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "quadrat/core/vec.hpp"

namespace CLI {
class App;
}

namespace quadrat::program {

/// The options that describe a box.
struct box_options {
  std::optional<std::string> box, origin, periodic;
};

/// Adds --box with the help text `help`, --origin and --periodic. `periodic_default` is the end of the help of
/// --periodic.
void add_box_options(CLI::App& command, box_options& options, const std::string& help, const std::string& type_name,
                     const std::string& periodic_default = "none (the default)");

/// The finite numbers of "1,2.5,3". Throws argument_error that names the option.
[[nodiscard]] std::vector<double> numbers_of_option(const char* option, std::string_view text);

// The functions below throw argument_error that names the option. Only the first `dimension` components of results are
// used.

/// --box: Lx,Ly,Lz or the components of all vectors.
[[nodiscard]] vec<vec<double, 3>, 3> vectors_of_option(const std::string& text, int dimension);
/// --origin
[[nodiscard]] vec<double, 3> origin_of_option(const std::string& text, int dimension);
/// --periodic
[[nodiscard]] vec<bool, 3> periodic_of_option(const std::string& text, int dimension);

}  // namespace quadrat::program
