// SPDX-License-Identifier: BSD-3-Clause
#include "program/contacts/scene.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "io/text.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::program {
namespace {

std::optional<box<double, 3>> domain_of(const box_options& options) {
  if (!options.box) {
    require(!options.origin, "--origin needs --box");
    const auto periodic = options.periodic ? periodic_of_option(*options.periodic, 3) : vec<bool, 3>{};
    require(!periodic[0] && !periodic[1] && !periodic[2], "--periodic ", options.periodic.value_or(""), " needs --box");
    return std::nullopt;
  }
  const std::vector<double> lengths = numbers_of_option("--box", *options.box);
  require(lengths.size() == 3, "--box: there are ", lengths.size(), " numbers; give the 3 lengths of an upright box");
  const auto vectors = vectors_of_option(*options.box, 3);
  const auto lower = options.origin ? origin_of_option(*options.origin, 3) : vec<double, 3>{};
  const vec<double, 3> length{vectors[0][0], vectors[1][1], vectors[2][2]};
  const auto periodic = options.periodic ? periodic_of_option(*options.periodic, 3) : vec<bool, 3>{};
  return make_box_from_lengths(lower, length, periodic);
}

plane<double> plane_of_option(const std::string& text) {
  const std::vector<double> numbers = numbers_of_option("--plane", text);
  require(numbers.size() == 4, "--plane: ", io::shown(text), " has ", numbers.size(),
          " numbers; give nx,ny,nz,offset: points p with n . p < offset are solid");
  const double largest = std::max({std::fabs(numbers[0]), std::fabs(numbers[1]), std::fabs(numbers[2])});
  require(largest > 0, "--plane: ", io::shown(text), " has the normal 0; any other length is accepted");
  // Scaled to about one first: squares of very long or short normals overflow or underflow.
  const vec<double, 3> direction{numbers[0] / largest, numbers[1] / largest, numbers[2] / largest};
  const double length = std::sqrt(squared_norm(direction));
  const double offset = numbers[3] / largest / length;
  require(std::isfinite(offset), "--plane: ", io::shown(text), " lies at no finite distance");
  return {direction * (1 / length), offset};
}

/// Excludes contacts between two groups.
void keep_apart(const std::string& text, pair_masks& masks) {
  const std::vector<double> numbers = numbers_of_option("--apart", text);
  const auto is_group = [](double number) { return number >= 0 && number < 32 && number == std::floor(number); };
  require(numbers.size() == 2 && is_group(numbers[0]) && is_group(numbers[1]), "--apart: ", io::shown(text),
          " are no two groups; write 0,1 for example (groups are whole numbers from 0 to 31)");
  const auto g = static_cast<std::size_t>(numbers[0]), h = static_cast<std::size_t>(numbers[1]);
  masks[g] &= ~(std::uint32_t{1} << h);
  masks[h] &= ~(std::uint32_t{1} << g);
}

}  // namespace

contact_surroundings surroundings_of(const contacts_options& options) {
  contact_surroundings result;
  result.domain = domain_of(options.box);
  for (const std::string& text : options.planes) result.planes.push_back(plane_of_option(text));
  for (const std::string& text : options.apart) keep_apart(text, result.masks);
  return result;
}

}  // namespace quadrat::program
