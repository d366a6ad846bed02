// SPDX-License-Identifier: BSD-3-Clause
#include "program/box_options.hpp"

#include <CLI/CLI.hpp>
#include <cmath>

#include "core/counted.hpp"
#include "io/text.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::program {

void add_box_options(CLI::App& command, box_options& options, const std::string& help, const std::string& type_name,
                     const std::string& periodic_default) {
  const std::string group = "Box";
  command.add_option("--box", options.box, help)->type_name(type_name)->group(group);
  command.add_option("--origin", options.origin, "lower corner of the box; default: 0 along all axes")
      ->type_name("x,y[,z]")
      ->group(group);
  command.add_option("--periodic", options.periodic, "periodic axes (vectors): xyz, xy, ..., " + periodic_default)
      ->type_name("AXES")
      ->group(group);
}

std::vector<double> numbers_of_option(const char* option, std::string_view text) {
  std::vector<double> numbers;
  for (;;) {
    const std::size_t comma = text.find(',');
    const std::string_view word = io::trimmed(text.substr(0, comma));
    const auto number = io::number_from<double>(word);
    require(number && std::isfinite(*number), option, ": ", io::shown(word),
            " is no number; write 1,2.5,3 for example");
    numbers.push_back(*number);
    if (comma == std::string_view::npos) return numbers;
    text.remove_prefix(comma + 1);
  }
}

vec<vec<double, 3>, 3> vectors_of_option(const std::string& text, int dimension) {
  const std::vector<double> numbers = numbers_of_option("--box", text);
  const auto d = static_cast<std::size_t>(dimension);
  require(numbers.size() == d || numbers.size() == d * d, "--box: ", detail::there_are(numbers.size(), "number"),
          "; points in ", detail::counted(d, "dimension"), " need ", detail::counted(d, "length"), ", or the ",
          detail::counted(d * d, "component"), " of ", detail::counted(d, "vector"));
  vec<vec<double, 3>, 3> vectors{};
  for (int axis = 0; axis < dimension; ++axis) {
    const auto a = static_cast<std::size_t>(axis);
    if (numbers.size() == d) {
      require(numbers[a] > 0, "--box: the length along ", "xyz"[axis], " is ", numbers[a],
              "; it must be positive, also for points in a plane");
      vectors[axis][axis] = numbers[a];
    } else {
      for (int k = 0; k < dimension; ++k) vectors[axis][k] = numbers[a * d + static_cast<std::size_t>(k)];
    }
  }
  return vectors;
}

vec<double, 3> origin_of_option(const std::string& text, int dimension) {
  const std::vector<double> numbers = numbers_of_option("--origin", text);
  require(numbers.size() == static_cast<std::size_t>(dimension),
          "--origin: ", detail::there_are(numbers.size(), "number"), "; points in ",
          detail::counted(dimension, "dimension"), " need ", dimension);
  vec<double, 3> origin{};
  for (int axis = 0; axis < dimension; ++axis) origin[axis] = numbers[static_cast<std::size_t>(axis)];
  return origin;
}

vec<bool, 3> periodic_of_option(const std::string& text, int dimension) {
  vec<bool, 3> periodic{};
  if (text == "none") return periodic;
  const std::string_view axes = std::string_view("xyz").substr(0, static_cast<std::size_t>(dimension));
  for (const char letter : text) {
    const std::size_t axis = axes.find(letter);
    require(axis != std::string_view::npos && !periodic[static_cast<int>(axis)], "--periodic: ", io::shown(text),
            " is neither none nor a choice of ", axes);
    periodic[static_cast<int>(axis)] = true;
  }
  require(!text.empty(), "--periodic: write none, or a choice of ", axes);
  return periodic;
}

}  // namespace quadrat::program
