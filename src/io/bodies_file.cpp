// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/io/bodies_file.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "core/suggestion.hpp"
#include "io/text.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/io/csv.hpp"

namespace quadrat::io {
namespace {

constexpr std::array<std::string_view, 3> center_names{"x", "y", "z"};
constexpr std::array<std::string_view, 3> axis_names{"a", "b", "c"};
constexpr std::array<std::string_view, 2> capsule_names{"radius", "half_length"};
constexpr std::array<std::string_view, 4> orientation_names{"qw", "qx", "qy", "qz"};
constexpr std::uint32_t groups = 32;

/// The columns that hold the sizes of a shape, in the order of body::size.
std::span<const std::string_view> size_names(body_shape shape) {
  if (shape == body_shape::sphere) return std::span(capsule_names).first(1);
  if (shape == body_shape::capsule) return capsule_names;
  return axis_names;
}

csv_columns columns_of_bodies() {
  csv_columns columns;
  columns.numbers = {"x", "y", "z", "qw", "qx", "qy", "qz", "group"};
  columns.text = {"shape"};
  columns.optional = {"radius", "half_length", "a", "b", "c"};
  return columns;
}

class bodies_parser {
 public:
  explicit bodies_parser(const csv_table& table) : table_(table) {}

  body_list parse() {
    body_list bodies;
    bodies.file = table_.file;
    bodies.lines = table_.lines;
    read_shapes(bodies);
    read_centers(bodies);
    read_sizes(bodies);
    read_orientations(bodies);
    read_groups(bodies);
    return bodies;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw io_error(message(table_.file, ": ", what)); }
  [[noreturn]] void fail(std::size_t row, const std::string& what) const {
    throw io_error(message(table_.file, ":", table_.lines[row], ": ", what));
  }

  /// The shape of all bodies if there is no column `shape`.
  [[nodiscard]] body_shape only_shape() const {
    const bool axes = table_.has("a") || table_.has("b") || table_.has("c");
    const bool round = table_.has("radius") || table_.has("half_length");
    if (axes && round) fail("there are sizes of several shapes, but no column \"shape\" that tells them apart");
    if (!axes && !round) {
      fail(
          "there are no sizes; valid are radius (spheres), radius, half_length (capsules), a, b, c (ellipsoids), or "
          "these with a column \"shape\"");
    }
    if (axes) return body_shape::ellipsoid;
    return table_.has("half_length") ? body_shape::capsule : body_shape::sphere;
  }

  [[nodiscard]] body_shape shape_named(const std::string& word, std::size_t row) const {
    const auto found = std::find(body_shape_names.begin(), body_shape_names.end(), word);
    if (found == body_shape_names.end()) {
      fail(row, message("column shape is ", word.empty() ? "empty" : shown(word), ", which is not a shape; ",
                        detail::suggestion(word, body_shape_names)));
    }
    return static_cast<body_shape>(found - body_shape_names.begin());
  }

  void read_shapes(body_list& bodies) const {
    if (!table_.has("shape")) {
      bodies.shapes.assign(table_.rows, only_shape());
      return;
    }
    const auto& words = table_.text("shape");
    bodies.shapes.reserve(table_.rows);
    for (std::size_t row = 0; row < table_.rows; ++row) bodies.shapes.push_back(shape_named(words[row], row));
  }

  void read_centers(body_list& bodies) const {
    bodies.centers.resize(table_.rows);
    for (int axis = 0; axis < 3; ++axis) {
      const std::string_view name = center_names[static_cast<std::size_t>(axis)];
      const auto& column = table_.column(name);
      for (std::size_t row = 0; row < table_.rows; ++row) {
        if (!std::isfinite(column[row])) {
          fail(row, message("column ", name, " is ", column[row], "; centers must be finite"));
        }
        bodies.centers[row][axis] = column[row];
      }
    }
  }

  [[nodiscard]] bool is_given(std::string_view name, std::size_t row) const {
    return table_.has(name) && !std::isnan(table_.column(name)[row]);
  }

  [[nodiscard]] static std::string needs(body_shape shape) {
    return message(shape == body_shape::ellipsoid ? "an " : "a ", body_shape_names[static_cast<std::size_t>(shape)],
                   " needs ", detail::joined(size_names(shape)));
  }

  [[nodiscard]] double size_at(std::string_view name, body_shape shape, std::size_t row) const {
    if (!table_.has(name)) fail(row, message("there is no column \"", name, "\"; ", needs(shape)));
    const double value = table_.column(name)[row];
    if (std::isnan(value)) fail(row, message("column ", name, " is empty or nan; ", needs(shape)));
    const bool may_be_zero = name == "half_length";
    if (!std::isfinite(value) || value < 0 || (value == 0 && !may_be_zero)) {
      fail(row, message("column ", name, " is ", value, "; ", needs(shape), ", ",
                        may_be_zero ? "not negative" : "positive", " and finite"));
    }
    constexpr double least = smallest_length<double>, most = largest_length<double>;
    if (value > 0 && (value < least || value > most)) {
      fail(row, message("column ", name, " is ", value, "; lengths are accepted from ", least, " to ", most));
    }
    return value;
  }

  void read_sizes(body_list& bodies) const {
    bodies.sizes.assign(table_.rows, vec<double, 3>{});
    for (std::size_t row = 0; row < table_.rows; ++row) {
      const body_shape shape = bodies.shapes[row];
      if (shape == body_shape::sphere && !is_given("radius", row) && is_given("a", row)) {
        bodies.sizes[row][0] = size_at("a", shape, row);
        continue;
      }
      int k = 0;
      for (const std::string_view name : size_names(shape)) bodies.sizes[row][k++] = size_at(name, shape, row);
      if (!sizes_are_sound(shape, bodies.sizes[row], 1.0)) {
        fail(row, message("one half-axis of the ellipsoid is more than ", most_slender<double>, " times another"));
      }
    }
    // Checked even if the table has no rows.
    if (!table_.has("shape")) {
      for (const std::string_view name : size_names(only_shape())) static_cast<void>(table_.column(name));
    }
  }

  void read_orientations(body_list& bodies) const {
    const auto given = std::count_if(orientation_names.begin(), orientation_names.end(),
                                     [&](std::string_view name) { return table_.has(name); });
    if (given == 0) return;
    std::array<const std::vector<double>*, 4> q{};
    for (std::size_t k = 0; k < q.size(); ++k) q[k] = &table_.column(orientation_names[k]);
    bodies.orientations.reserve(table_.rows);
    for (std::size_t row = 0; row < table_.rows; ++row) {
      std::array<double, 4> part{};
      double largest = 0;
      for (std::size_t k = 0; k < q.size(); ++k) {
        part[k] = (*q[k])[row];
        if (!std::isfinite(part[k])) {
          fail(row, message("column ", orientation_names[k], " is ", part[k], "; quaternions must be finite"));
        }
        largest = std::max(largest, std::fabs(part[k]));
      }
      if (largest == 0) fail(row, "the quaternion qw, qx, qy, qz is 0; any other length is accepted");
      // Scaled to a length of about one first: squares of long quaternions overflow, those of short ones underflow.
      bodies.orientations.push_back(
          normalized(quaternion<double>{part[0] / largest, part[1] / largest, part[2] / largest, part[3] / largest}));
    }
  }

  void read_groups(body_list& bodies) const {
    if (!table_.has("group")) return;
    bodies.groups.reserve(table_.rows);
    for (std::size_t row = 0; row < table_.rows; ++row) {
      const double value = table_.column("group")[row];
      if (!(value >= 0 && value < groups) || value != std::floor(value)) {
        fail(row, message("column group is ", value, "; groups are whole numbers from 0 to ", groups - 1));
      }
      bodies.groups.push_back(static_cast<std::uint32_t>(value));
    }
  }

  const csv_table& table_;
};

}  // namespace

body_list parse_bodies(std::string_view text, const std::string& file) {
  const csv_table table = parse_csv(text, file, columns_of_bodies());
  return bodies_parser(table).parse();
}

body_list read_bodies(const std::filesystem::path& file) { return parse_bodies(read_whole_file(file), file.string()); }

}  // namespace quadrat::io
