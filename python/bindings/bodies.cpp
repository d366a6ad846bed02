// SPDX-License-Identifier: BSD-3-Clause
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <tuple>

#include "arrays.hpp"
#include "boxes.hpp"
#include "modules.hpp"
#include "quadrat/contacts/contact_detector.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::python {

namespace {

/// D lengths with their corner and periodic axes.
[[nodiscard]] domain_given domain_from(nb::handle box, int dimension, nb::handle periodic, nb::handle origin) {
  if (box.is_none()) {
    static_cast<void>(boxes_from(box, dimension, periodic, origin));  // refuses periodic axes
    return {};
  }
  const boxes_given boxes = boxes_from(box, dimension, periodic, origin, 1, extents::of_all_axes);
  domain_given result{boxes.origins, {}, boxes.periodic};
  const auto axes = static_cast<std::size_t>(dimension);
  for (std::size_t a = 0; a < axes; ++a) {
    for (std::size_t b = 0; b < axes; ++b) {
      const double value = boxes.vectors[a * axes + b];
      if (a == b) {
        result.length.push_back(value);
      } else if (value != 0) {
        throw nb::value_error("the box is not rectangular; lengths, or vectors along the axes, are accepted");
      }
    }
  }
  return result;
}

/// A number by body, or one for all.
struct number_or_array {
  double value = 0;
  std::optional<given_array> array{};
};

[[nodiscard]] number_or_array radii_from(nb::handle radii, std::size_t count, const origin_of_arrays& where,
                                         number type) {
  number_or_array result;
  if (radii.is_none()) return result;
  if (nb::try_cast(radii, result.value)) return result;
  result.array = floats(radii, "radii", where, type);
  if (result.array->shape() != std::vector<std::size_t>{count}) {
    throw nb::value_error(message("radii have the shape ", shape_text(result.array->shape()),
                                  "; one number, or one for each of the ", count, " bodies, is needed")
                              .c_str());
  }
  return result;
}

[[nodiscard]] std::optional<given_array> rows_from(nb::handle value, const char* name, std::size_t count,
                                                   std::size_t columns, const origin_of_arrays& where, number type) {
  if (value.is_none()) return std::nullopt;
  given_array result = floats(value, name, where, type);
  if (result.size() == 0 && count == 0) result.reshape({0, columns});
  if (result.shape() != std::vector<std::size_t>{count, columns}) {
    throw nb::value_error(
        message(name, " have the shape ", shape_text(result.shape()), "; (", count, ", ", columns, ") is needed")
            .c_str());
  }
  return result;
}

[[nodiscard]] std::vector<double> planes_from(nb::handle planes) {
  if (planes.is_none()) return {};
  host_numbers given = numbers_from(planes, "planes");
  if (given.values.empty()) return {};
  if (given.shape.size() != 2 || given.shape[1] != 4) {
    throw nb::value_error(
        message("planes have the shape ", shape_text(given.shape), "; (P, 4) is needed: unit normals and offsets")
            .c_str());
  }
  return std::move(given.values);
}

/// As a tuple: a, b, depth, normal, point_a, point_b, shift, feature.
[[nodiscard]] nb::tuple contacts_of(contact_search& search, const origin_of_arrays& where, number type,
                                    bool long_indices) {
  const std::size_t count = search.size();
  const number indices = long_indices ? number::int64 : number::int32;
  results made(where, where.engine());
  void* const memory[] = {made.add(indices, {count}),    made.add(indices, {count}), made.add(type, {count}),
                          made.add(type, {count, 3}),    made.add(type, {count, 3}), made.add(type, {count, 3}),
                          made.add(indices, {count, 3}), made.add(indices, {count})};
  constexpr contact_field fields[] = {contact_field::a,      contact_field::b,       contact_field::depth,
                                      contact_field::normal, contact_field::point_a, contact_field::point_b,
                                      contact_field::shift,  contact_field::feature};
  made.prepare(search);
  unlocked([&] {
    for (std::size_t k = 0; k < std::size(fields); ++k) search.write(fields[k], long_indices, memory[k]);
    search.synchronize();
  });
  nb::list all;
  for (std::size_t k = 0; k < made.count(); ++k) all.append(made.take(k));
  return nb::tuple(all);
}

[[nodiscard]] nb::tuple find_contacts(nb::handle centers, nb::handle radii, int shape, nb::handle shapes,
                                      nb::handle sizes, nb::handle orientations, nb::handle ids, nb::handle planes,
                                      nb::handle box, nb::handle periodic, nb::handle origin, const std::string& method,
                                      bool sorted, double bin_size, int level, int threads, nb::handle index_dtype) {
  const origin_of_arrays where = origin_of(centers, "centers");
  given_array array = points_from(centers, where, 3, "centers");
  const std::size_t count = array.shape()[0];
  number_or_array radius = radii_from(radii, count, where, array.type());
  std::optional<given_array> extents = rows_from(sizes, "sizes", count, 3, where, array.type());
  std::optional<given_array> turns = rows_from(orientations, "orientations", count, 4, where, array.type());
  std::optional<given_array> kinds = indices_from(shapes, "shapes", count, where, "bodies");
  std::optional<given_array> identities = indices_from(ids, "ids", count, where, "bodies");
  const domain_given domain = domain_from(box, 3, periodic, origin);
  const bool long_indices = long_indices_from(index_dtype).value_or(where.long_indices());

  const std::unique_ptr<contact_search> search = made_by(where, [&](backend& engine) {
    return engine.make_contact_search({where.device, threads, static_cast<determinism>(level)}, is_wide(array.type()),
                                      domain, method, sorted, bin_size);
  });
  const auto received = [&](std::optional<given_array>& given) -> const void* {
    if (!given) return nullptr;
    given->receive(*search);
    return given->data();
  };
  array.receive(*search);
  bodies_given bodies;
  bodies.centers = array.points();
  bodies.shape = shape;
  bodies.radius = radius.value;
  bodies.radii = received(radius.array);
  bodies.sizes = received(extents);
  bodies.orientations = received(turns);
  received(kinds);
  received(identities);
  bodies.shapes = of(kinds);
  bodies.ids = of(identities);
  bodies.planes = planes_from(planes);
  unlocked([&] { search->build(bodies); });
  return contacts_of(*search, where, array.type(), long_indices);
}

/// Cells on the device of the last points.
class cell_lists {
 public:
  cell_lists(nb::handle box, std::vector<int> cells, double cutoff, nb::handle periodic, nb::handle origin,
             bool accept_outside, int level, int threads, int dimension, nb::handle index_dtype)
      : domain_(domain_from(box, dimension, periodic, origin)),
        cells_(std::move(cells)),
        cutoff_(cutoff),
        accept_outside_(accept_outside),
        level_(static_cast<determinism>(level)),
        threads_(threads),
        long_indices_(long_indices_from(index_dtype)) {
    // Checks the settings.
    search_ = cpu_backend().make_cell_search({-1, threads, level_}, true, domain_, cells_, cutoff_, accept_outside);
  }

  void build(nb::handle points) {
    const origin_of_arrays where = origin_of(points, "points");
    given_array array = points_from(points, where, 2, "points", std::nullopt, static_cast<int>(domain_.length.size()));
    const turn mine(mutex_);
    built_ = false;
    const auto kind = std::make_tuple(where.device, is_wide(array.type()));
    if (kind != kind_) {
      search_ = made_by(where, [&](backend& engine) {
        return engine.make_cell_search({where.device, threads_, level_}, is_wide(array.type()), domain_, cells_,
                                       cutoff_, accept_outside_);
      });
      kind_ = kind;
    }
    array.receive(*search_);
    unlocked([&] { search_->build(array.points()); });
    where_ = where;
    points_ = array.shape()[0];
    built_ = true;
  }
  /// Offsets and indices.
  [[nodiscard]] nb::tuple arrays() {
    const turn mine(mutex_);
    if (!built_) throw nb::value_error("there is no list: no points yet, or the last build failed; call build");
    const bool long_indices = long_indices_.value_or(where_.long_indices());
    const number type = long_indices ? number::int64 : number::int32;
    std::size_t cells = 1;
    for (const int extent : search_->cells()) cells *= static_cast<std::size_t>(extent);
    results made(where_, where_.engine());
    void* const offsets = made.add(type, {cells + 1});
    void* const indices = made.add(type, {points_});
    made.prepare(*search_);
    unlocked([&] {
      search_->write_offsets(long_indices, offsets);
      search_->write_points(long_indices, indices);
      search_->synchronize();
    });
    return nb::make_tuple(made.take(0), made.take(1));
  }
  [[nodiscard]] nb::tuple cells() {
    const turn mine(mutex_);
    nb::list result;
    for (const int extent : search_->cells()) result.append(extent);
    return nb::tuple(result);
  }

 private:
  domain_given domain_;
  std::vector<int> cells_;
  double cutoff_;
  bool accept_outside_;
  determinism level_;
  int threads_;
  std::optional<bool> long_indices_;
  std::mutex mutex_;
  std::unique_ptr<cell_search> search_;
  std::tuple<int, bool> kind_{-1, true};
  origin_of_arrays where_{};
  std::size_t points_ = 0;
  bool built_ = false;
};

}  // namespace

void add_bodies(nb::module_& module) {
  const auto any = [](const char* name) { return nb::arg(name).none(); };
  module.def("contacts", &find_contacts, nb::arg("centers").none(), any("radii"), nb::arg("shape"), any("shapes"),
             any("sizes"), any("orientations"), any("ids"), any("planes"), any("box"), any("periodic"), any("origin"),
             nb::arg("method"), nb::arg("sorted"), nb::arg("bin_size"), nb::arg("level"), nb::arg("threads"),
             any("index_dtype"));
  nb::class_<cell_lists>(module, "CellLists")
      .def(nb::init<nb::handle, std::vector<int>, double, nb::handle, nb::handle, bool, int, int, int, nb::handle>(),
           nb::arg("box"), nb::arg("cells"), nb::arg("cutoff"), any("periodic"), any("origin"),
           nb::arg("accept_outside"), nb::arg("level"), nb::arg("threads"), nb::arg("dimension"), any("index_dtype"))
      .def("build", &cell_lists::build, nb::arg("points").none())
      .def("arrays", &cell_lists::arrays)
      .def("cells", &cell_lists::cells);
}

}  // namespace quadrat::python
