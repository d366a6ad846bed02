// SPDX-License-Identifier: BSD-3-Clause
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <string>

#include "arrays.hpp"
#include "boxes.hpp"
#include "modules.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::python {

namespace {

/// D lengths with their corner and periodic axes, for each system; empty without a box.
[[nodiscard]] std::vector<quadrat_domain> domains_from(nb::handle box, int dimension, nb::handle periodic,
                                                       nb::handle origin, std::size_t systems) {
  if (box.is_none()) {
    static_cast<void>(boxes_from(box, dimension, periodic, origin));  // refuses periodic axes
    return {};
  }
  const boxes_given boxes = boxes_from(box, dimension, periodic, origin, systems, extents::of_all_axes);
  const auto axes = static_cast<std::size_t>(dimension);
  for (std::size_t k = 0; k < boxes.vectors.size(); ++k) {
    if (k % (axes * axes) % (axes + 1) != 0 && boxes.vectors[k] != 0) {
      throw nb::value_error("the box is not rectangular; lengths, or vectors along the axes, are accepted");
    }
  }
  std::vector<quadrat_domain> result;
  for (std::size_t s = 0; s < systems; ++s) result.push_back(boxes.domain(s));
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
[[nodiscard]] nb::tuple contacts_of(contact_handle& search, const origin_of_arrays& where, number type,
                                    bool long_indices) {
  const auto count = static_cast<std::size_t>(search.get(&c_functions::contact_detector_view).count);
  const number indices = long_indices ? number::int64 : number::int32;
  results made(where);
  void* const memory[] = {made.add(indices, {count}),    made.add(indices, {count}), made.add(type, {count}),
                          made.add(type, {count, 3}),    made.add(type, {count, 3}), made.add(type, {count, 3}),
                          made.add(indices, {count, 3}), made.add(indices, {count})};
  constexpr int fields[] = {QUADRAT_CONTACT_A,      QUADRAT_CONTACT_B,       QUADRAT_CONTACT_DEPTH,
                            QUADRAT_CONTACT_NORMAL, QUADRAT_CONTACT_POINT_A, QUADRAT_CONTACT_POINT_B,
                            QUADRAT_CONTACT_SHIFT,  QUADRAT_CONTACT_FEATURE};
  made.prepare(search);
  unlocked([&] {
    for (std::size_t k = 0; k < std::size(fields); ++k) {
      search.call(&c_functions::contact_detector_write_async, fields[k], index_type(long_indices), memory[k]);
    }
    search.synchronize();
  });
  nb::list all;
  for (std::size_t k = 0; k < made.count(); ++k) all.append(made.take(k));
  return nb::tuple(all);
}

[[nodiscard]] nb::tuple find_contacts(nb::handle centers, nb::handle radii, int shape, nb::handle shapes,
                                      nb::handle sizes, nb::handle orientations, nb::handle ids, nb::handle planes,
                                      nb::handle box, nb::handle periodic, nb::handle origin, nb::handle systems,
                                      const std::string& method, bool sorted, double bin_size, int level, int threads,
                                      nb::handle index_dtype) {
  const origin_of_arrays where = origin_of(centers, "centers");
  given_array array = points_from(centers, where, 3, "centers");
  const std::size_t count = array.shape()[0];
  number_or_array radius = radii_from(radii, count, where, array.type());
  std::optional<given_array> extents = rows_from(sizes, "sizes", count, 3, where, array.type());
  std::optional<given_array> turns = rows_from(orientations, "orientations", count, 4, where, array.type());
  std::optional<given_array> kinds = indices_from(shapes, "shapes", count, where, "bodies");
  std::optional<given_array> identities = indices_from(ids, "ids", count, where, "bodies");
  std::optional<given_array> numbers = indices_from(systems, "systems", count, where);
  const std::vector<quadrat_domain> domains =
      domains_from(box, 3, periodic, origin, box.is_none() ? 1 : systems_of(numbers, box, 3, where, threads));
  const bool long_indices = long_indices_from(index_dtype).value_or(where.long_indices());

  auto options = sized<quadrat_contact_options>();
  options.type = c_type(array.type());
  options.sorted = sorted ? 1 : 0;
  options.domain = domains.data();
  options.systems = numbers ? domains.size() : 0;
  options.method = method.c_str();
  options.bin_size = bin_size;
  const std::unique_ptr<contact_handle> search = made_at<contact_handle>(where.at(threads, level), &options);
  const auto received = [&](std::optional<given_array>& given) -> const void* {
    if (!given) return nullptr;
    given->receive(*search);
    return given->data();
  };
  array.receive(*search);
  auto bodies = sized<quadrat_bodies>();
  bodies.centers = array.points();
  bodies.shape = shape;
  bodies.radius = radius.value;
  bodies.radii = received(radius.array);
  bodies.sizes = received(extents);
  bodies.orientations = received(turns);
  received(kinds);
  received(identities);
  received(numbers);
  bodies.shapes = of(kinds);
  bodies.ids = of(identities);
  bodies.system_of_body = of(numbers);
  const std::vector<double> walls = planes_from(planes);
  bodies.planes = walls.data();
  bodies.plane_count = walls.size() / 4;
  unlocked([&] { search->call(&c_functions::contact_detector_build, &bodies); });
  return contacts_of(*search, where, array.type(), long_indices);
}

/// One domain, of zeros without a box.
[[nodiscard]] quadrat_domain domain_of_cells(nb::handle box, int dimension, nb::handle periodic, nb::handle origin) {
  const std::vector<quadrat_domain> given = domains_from(box, dimension, periodic, origin, 1);
  return given.empty() ? quadrat_domain{} : given[0];
}

/// Cells on the device of the last points.
class cell_lists {
 public:
  cell_lists(nb::handle box, const std::vector<int>& cells, double cutoff, nb::handle periodic, nb::handle origin,
             bool accept_outside, int level, int threads, int dimension, nb::handle index_dtype)
      : level_(level), threads_(threads), long_indices_(long_indices_from(index_dtype)) {
    options_.type = QUADRAT_FLOAT64;
    options_.dimension = dimension;
    options_.domain = domain_of_cells(box, dimension, periodic, origin);
    std::copy(cells.begin(), cells.end(), options_.cells);
    options_.accept_outside = accept_outside ? 1 : 0;
    options_.cutoff = cutoff;
    search_ = std::make_unique<cell_list_handle>(place{.threads = threads, .level = level}, &options_);  // checks them
  }

  void build(nb::handle points) {
    const origin_of_arrays where = origin_of(points, "points");
    given_array array = points_from(points, where, 2, "points", std::nullopt, options_.dimension);
    const turn mine(mutex_);
    built_ = false;
    const int type = c_type(array.type());
    if (where.device != where_.device || type != options_.type) {
      quadrat_cell_options wanted = options_;
      wanted.type = type;
      search_ = made_at<cell_list_handle>(where.at(threads_, level_), &wanted);
      options_ = wanted;
    }
    where_ = where;
    array.receive(*search_);
    const quadrat_points given = array.points();
    unlocked([&] { search_->call(&c_functions::cell_list_build, &given); });
    built_ = true;
  }
  /// Offsets and indices.
  [[nodiscard]] nb::tuple arrays() {
    const turn mine(mutex_);
    if (!built_) throw nb::value_error("there is no list: no points yet, or the last build failed; call build");
    const bool long_indices = long_indices_.value_or(where_.long_indices());
    const number type = long_indices ? number::int64 : number::int32;
    const auto found = search_->get(&c_functions::cell_list_view);
    results made(where_);
    void* const offsets = made.add(type, {found.count + 1});
    void* const indices = made.add(type, {found.points});
    made.prepare(*search_);
    unlocked([&] {
      const int width = index_type(long_indices);
      search_->call(&c_functions::cell_list_write_async, int{QUADRAT_CELL_OFFSETS}, width, offsets);
      search_->call(&c_functions::cell_list_write_async, int{QUADRAT_CELL_INDICES}, width, indices);
      search_->synchronize();
    });
    return nb::make_tuple(made.take(0), made.take(1));
  }
  [[nodiscard]] nb::tuple cells() {
    const turn mine(mutex_);
    const auto found = search_->get(&c_functions::cell_list_view);
    nb::list result;
    for (int axis = 0; axis < found.dimension; ++axis) result.append(found.cells[axis]);
    return nb::tuple(result);
  }

 private:
  quadrat_cell_options options_ = sized<quadrat_cell_options>();
  int level_;
  int threads_;
  std::optional<bool> long_indices_;
  std::mutex mutex_;
  std::unique_ptr<cell_list_handle> search_;
  origin_of_arrays where_{};
  bool built_ = false;
};

}  // namespace

void add_bodies(nb::module_& module) {
  const auto any = [](const char* name) { return nb::arg(name).none(); };
  module.def("contacts", &find_contacts, nb::arg("centers").none(), any("radii"), nb::arg("shape"), any("shapes"),
             any("sizes"), any("orientations"), any("ids"), any("planes"), any("box"), any("periodic"), any("origin"),
             any("systems"), nb::arg("method"), nb::arg("sorted"), nb::arg("bin_size"), nb::arg("level"),
             nb::arg("threads"), any("index_dtype"));
  nb::class_<cell_lists>(module, "CellLists")
      .def(nb::init<nb::handle, std::vector<int>, double, nb::handle, nb::handle, bool, int, int, int, nb::handle>(),
           nb::arg("box"), nb::arg("cells"), nb::arg("cutoff"), any("periodic"), any("origin"),
           nb::arg("accept_outside"), nb::arg("level"), nb::arg("threads"), nb::arg("dimension"), any("index_dtype"))
      .def("build", &cell_lists::build, nb::arg("points").none())
      .def("arrays", &cell_lists::arrays)
      .def("cells", &cell_lists::cells);
}

}  // namespace quadrat::python
