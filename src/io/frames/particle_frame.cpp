// SPDX-License-Identifier: BSD-3-Clause
#include "io/frames/particle_frame.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "core/number_text.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/io/atomic_file.hpp"

namespace quadrat::io {
namespace {

/// Names that the formats give a meaning of their own.
constexpr std::array<std::string_view, 8> reserved_names{"species", "pos",    "velo", "velocity",
                                                         "speed",   "radius", "id",   "Points"};

bool is_name(std::string_view text) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !text.empty() && std::ranges::all_of(text, fits);
}

}  // namespace

void require_complete(const particle_frame& frame, std::string_view kind) {
  const std::size_t count = frame.positions.size();
  const auto demand = [&](std::size_t size, std::string_view what) {
    require(size == count, "a file of ", kind, " got ", count, " positions and ", size, " values of ", what);
  };
  if (!frame.velocities.empty()) demand(frame.velocities.size(), "velocity");
  if (!frame.radii.empty()) demand(frame.radii.size(), "radius");
  for (const particle_field& field : frame.fields) {
    require(is_name(field.name) && std::ranges::find(reserved_names, field.name) == reserved_names.end(),
            "a field cannot be called \"", field.name,
            "\"; names are of letters, digits and underscores, and not those of other columns");
    demand(field.values.size(), field.name);
  }
}

std::string xyz_comment(const particle_frame& frame) {
  const vec<double, 3> edges = frame.upper - frame.lower;
  std::string text = "Lattice=\"";
  for (int k = 0; k < 9; ++k) text += (k > 0 ? " " : "") + number_text(k % 4 == 0 ? edges[k / 3] : 0.0);
  text += "\" Origin=\"";
  for (int k = 0; k < 3; ++k) text += (k > 0 ? " " : "") + number_text(frame.lower[k]);
  text += "\" pbc=\"";
  for (int k = 0; k < 3; ++k) text += message(k > 0 ? " " : "", frame.periodic[k] ? 'T' : 'F');
  text += "\" Properties=species:S:1:pos:R:3";
  if (!frame.velocities.empty()) text += ":velo:R:3";
  if (!frame.radii.empty()) text += ":radius:R:1";
  for (const particle_field& field : frame.fields) text += message(':', field.name, ":R:1");
  return text + ":id:I:1 Time=" + number_text(frame.time) + "\n";
}

void append_xyz_lines(std::string& text, const particle_frame& frame, std::size_t first, std::size_t end) {
  const auto add = [&](float value) { text += ' ' + number_text(value); };
  for (std::size_t i = first; i < end; ++i) {
    text += 'X';
    for (int axis = 0; axis < 3; ++axis) add(frame.positions[i][axis]);
    for (int axis = 0; axis < 3 && !frame.velocities.empty(); ++axis) add(frame.velocities[i][axis]);
    if (!frame.radii.empty()) add(frame.radii[i]);
    for (const particle_field& field : frame.fields) add(field.values[i]);
    text += ' ' + number_text(frame.first_id + i) + '\n';
  }
}

void write_xyz(const std::filesystem::path& file, const particle_frame& frame) {
  require_complete(frame, "XYZ");
  const std::size_t count = frame.positions.size();
  atomic_file out(file);
  out.write(message(count, '\n') + xyz_comment(frame));
  constexpr std::size_t some = 1024;
  for (std::size_t first = 0; first < count; first += some) {
    std::string text;
    append_xyz_lines(text, frame, first, std::min(first + some, count));
    out.write(text);
  }
  out.commit();
}

}  // namespace quadrat::io
