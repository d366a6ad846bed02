// SPDX-License-Identifier: BSD-3-Clause
#include "program/mesh/options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <string_view>
#include <vector>

#include "core/counted.hpp"
#include "io/text.hpp"
#include "program/explain.hpp"
#include "program/option_checks.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/io/scene.hpp"
#include "quadrat/mesh/methods.hpp"

namespace quadrat::program {
namespace {

constexpr std::array<std::string_view, 2> end_choices{"lower", "both"};

void add_mesh_choices(CLI::App& command, mesh_options& o) {
  command
      .add_option("--order", o.order, "order of the B-splines: mesh points that a point touches along an axis, 1 to 8")
      ->check(whole_number())
      ->capture_default_str();
  command.add_option("--method", o.method, "how to spread; default: auto")->type_name("NAME");
  command.add_flag("--clip", o.clip, "leave out contributions outside the mesh along open axes");
  command.add_flag("--accept-outside", o.accept_outside, "accept points outside the box along open axes");
  command
      .add_option("--ends", o.ends,
                  "mesh points on open axes: the first on the lower face (lower), or also the last on the upper one")
      ->check(one_of(end_choices))
      ->capture_default_str();
  command.add_option("--uses", o.uses, "choose the method for this many uses of the same points")
      ->check(any_number())
      ->capture_default_str();
}

}  // namespace

void add_mesh_options(CLI::App& command, mesh_options& o) {
  add_box_options(command, o.box, "lengths of the box; default: that of the .xyz file, else 1 along each axis",
                  "Lx[,Ly[,Lz]]", "none; default: all");
  add_mesh_choices(command, o);
  add_device_options(command, o.device);
  command.add_option("--precision", o.precision, "float or double; default: float if all input is single precision")
      ->check(one_of(io::names_of<io::number_precision>));
  command.add_flag("--json", o.json, "print counts, sums and times as JSON, and nothing else, on stdout");
  add_explain_option(command, o.explain);
  command.add_flag("--quiet", o.quiet, "print nothing");
}

std::string mesh_methods_text() {
  std::string text = "Methods (all give the same mesh; interpolation uses them, too):\n";
  for (const spread_method& method : spread_methods()) {
    if (method.wrong_results) continue;
    const char* const where = method.on_cpu ? (method.on_cuda ? "cpu, cuda" : "cpu") : "cuda";
    text += fmt::format("  {:<14} {:<10} {}\n", method.name, where, method.summary);
  }
  return text + fmt::format("  {:<14} {:<10} {}\n", "auto", "", "one of these is chosen, and the output says why");
}

spread_options plan_options(const mesh_options& options) {
  for (const spread_method& method : spread_methods()) {
    require(!method.wrong_results || options.method != method.name, "--method: ", method.name,
            " gives wrong results: it is only for timing by quadrat bench; quadrat spread --help lists the others");
  }
  spread_options result;
  result.asynchronous = false;
  result.method = options.method;
  result.clip = options.clip;
  result.accept_outside = options.accept_outside;
  result.ends = options.ends == "both" ? open_ends::both : open_ends::lower;
  result.uses = options.uses;
  return result;
}

vec<int, 3> extents_of_option(const std::string& text, int dimension, const std::string& option,
                              const std::string& what) {
  std::vector<int> numbers;
  std::string_view rest = text;
  for (;;) {
    const std::size_t comma = rest.find(',');
    const std::string_view word = io::trimmed(rest.substr(0, comma));
    const auto number = io::number_from<int>(word);
    require(number.has_value(), option, ": ", io::shown(word), " is no number of ", what,
            "; write 64,64,64 for example");
    numbers.push_back(*number);
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  require(numbers.size() == 1 || numbers.size() == static_cast<std::size_t>(dimension), option, ": ",
          detail::there_are(numbers.size(), "number"), "; points in ", detail::counted(dimension, "dimension"),
          " need ", dimension, ", or one for all axes");
  vec<int, 3> extents{1, 1, 1};
  for (int axis = 0; axis < dimension; ++axis) {
    extents[axis] = numbers[numbers.size() == 1 ? 0 : static_cast<std::size_t>(axis)];
  }
  return extents;
}

}  // namespace quadrat::program
