// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <memory>
#include <string>

#include "boxes.hpp"
#include "modules.hpp"
#include "points.hpp"

namespace quadrat::python {

namespace {

/// The systems of points and of queries.
struct systems_given {
  std::optional<given_array> of_points, of_queries{};

  void receive(worker& reader) {
    if (of_points) of_points->receive(reader);
    if (of_queries) of_queries->receive(reader);
  }
};

[[nodiscard]] systems_given systems_from(nb::handle systems, nb::handle systems_of_queries, const point_arrays& arrays,
                                         const origin_of_arrays& where) {
  if (!systems_of_queries.is_none() && !arrays.queries) {
    throw nb::value_error("systems_of_queries are given, but no queries");
  }
  if (!systems_of_queries.is_none() && systems.is_none()) {
    throw nb::value_error("systems_of_queries are given, but no systems of the points");
  }
  return {indices_from(systems, "systems", arrays.points.shape()[0], where),
          indices_from(systems_of_queries, "systems_of_queries", arrays.rows(), where, "queries")};
}

[[nodiscard]] nb::tuple knn(nb::handle points, std::size_t k, nb::handle box, nb::handle periodic, nb::handle origin,
                            double cutoff, nb::handle queries, nb::handle systems, nb::handle systems_of_queries,
                            bool include_self, bool shifts, int threads, nb::handle index_dtype) {
  const origin_of_arrays where = origin_of(points, "points");
  point_arrays arrays = point_arrays_from(points, queries, where);
  const int dimension = arrays.dimension();
  systems_given numbers = systems_from(systems, systems_of_queries, arrays, where);
  const boxes_given boxes =
      boxes_from(box, dimension, periodic, origin,
                 systems_of(numbers.of_points, box, dimension, where, threads, &numbers.of_queries));
  const bool long_indices = long_indices_from(index_dtype).value_or(where.long_indices());
  const number indices = long_indices ? number::int64 : number::int32;
  auto options = sized<quadrat_nearest_options>();
  options.type = c_type(arrays.points.type());
  options.dimension = dimension;
  options.k = k;
  options.cutoff = meant(cutoff);
  options.include_self = include_self ? 1 : 0;
  options.shifts = shifts ? 1 : 0;
  options.systems = numbers.of_points ? 1 : 0;
  const quadrat_boxes space = boxes.view();
  const std::unique_ptr<nearest_handle> search = made_at<nearest_handle>(where.at(threads), &space, &options);
  arrays.receive(*search);
  numbers.receive(*search);
  results made(where);
  void* const neighbors = made.add(indices, {arrays.rows(), k});
  void* const moved = shifts ? made.add(indices, {arrays.rows(), k, static_cast<std::size_t>(dimension)}) : nullptr;
  void* const distances = made.add(arrays.points.type(), {arrays.rows(), k});
  made.prepare(*search);
  const quadrat_points given = arrays.points.points();
  const std::optional<quadrat_points> at = arrays.queries_given();
  const quadrat_integers of_points = of(numbers.of_points), of_queries = of(numbers.of_queries);
  unlocked([&] {
    const auto write = [&](int output, void* to) {
      if (to != nullptr)
        search->call(&c_functions::nearest_neighbors_write_async, output, index_type(long_indices), to);
    };
    search->call(&c_functions::nearest_neighbors_build, &given, &of_points);
    search->call(&c_functions::nearest_neighbors_search, at ? &*at : nullptr, &of_queries);
    write(QUADRAT_NEAREST_INDICES, neighbors);
    write(QUADRAT_NEAREST_DISTANCES, distances);
    write(QUADRAT_NEAREST_SHIFTS, moved);
    search->synchronize();
  });
  const std::size_t last = made.count() - 1;
  return nb::make_tuple(made.take(0), made.take(last), shifts ? made.take(1) : nb::object(nb::none()));
}

/// Labels; with `members` also where the rows of members begin, the members, and the centers.
[[nodiscard]] nb::object clusters(nb::handle points, double cutoff, nb::handle box, nb::handle periodic,
                                  nb::handle origin, nb::handle systems, std::uint32_t min_points, bool members,
                                  int threads, nb::handle index_dtype) {
  const origin_of_arrays where = origin_of(points, "points");
  given_array array = points_from(points, where, 2);
  const std::size_t dimension = array.shape()[1];
  std::optional<given_array> numbers = indices_from(systems, "systems", array.shape()[0], where);
  const boxes_given boxes = boxes_from(box, static_cast<int>(dimension), periodic, origin,
                                       systems_of(numbers, box, static_cast<int>(dimension), where, threads));
  const bool long_indices = long_indices_from(index_dtype).value_or(where.long_indices());
  const number index = long_indices ? number::int64 : number::int32;
  auto options = sized<quadrat_cluster_options>();
  options.type = c_type(array.type());
  options.dimension = static_cast<int>(dimension);
  options.cutoff = cutoff;
  options.min_points = min_points;
  options.accept_outside = boxes.open() ? 1 : 0;
  const quadrat_boxes space = boxes.view();
  const std::unique_ptr<cluster_handle> finder = made_at<cluster_handle>(where.at(threads), &space, &options);
  array.receive(*finder);
  if (numbers) numbers->receive(*finder);
  results made(where);
  void* const labels = made.add(index, {array.shape()[0]});
  made.prepare(*finder);
  const quadrat_points given = array.points();
  const quadrat_integers of_points = of(numbers);
  const auto write = [&](int output, void* to) {
    finder->call(&c_functions::cluster_finder_write_async, output, index_type(long_indices), to);
  };
  unlocked([&] {
    finder->call(&c_functions::cluster_finder_find, &given, &of_points);
    write(QUADRAT_CLUSTER_LABELS, labels);
    finder->synchronize();
  });
  if (!members) return made.take(0);
  const auto found = unlocked([&] { return finder->get(&c_functions::cluster_finder_members); });
  results more(where);
  void* const offsets = more.add(index, {found.clusters + 1});
  void* const of_labels = more.add(index, {found.members});
  void* const centers = more.add(array.type(), {found.clusters, dimension});
  more.prepare(*finder);
  unlocked([&] {
    write(QUADRAT_CLUSTER_OFFSETS, offsets);
    write(QUADRAT_CLUSTER_MEMBERS, of_labels);
    write(QUADRAT_CLUSTER_CENTERS, centers);
    finder->synchronize();
  });
  return nb::make_tuple(made.take(0), more.take(0), more.take(1), more.take(2));
}

/// What is asked of a catalog by point.
struct catalog_arrays {
  std::optional<given_array> velocities, potentials, densities;

  void receive(worker& reader) {
    for (auto* const array : {&velocities, &potentials, &densities}) {
      if (*array) (*array)->receive(reader);
    }
  }
  [[nodiscard]] quadrat_catalog_options options(std::uint32_t least_size, bool by_size) const {
    auto options = sized<quadrat_catalog_options>();
    options.least_size = least_size;
    options.by_size = by_size ? 1 : 0;
    if (velocities) options.velocities = velocities->points();
    if (potentials) options.potentials = potentials->data();
    if (densities) options.densities = densities->data();
    return options;
  }
};

/// The records of a catalog as bytes, the name of their real type, the dimension, and the row of each point.
[[nodiscard]] nb::tuple cluster_catalog(nb::handle points, double cutoff, nb::handle box, nb::handle periodic,
                                        nb::handle origin, nb::handle systems, std::uint32_t min_points,
                                        nb::handle velocities, nb::handle potentials, nb::handle densities,
                                        std::uint32_t least_size, bool by_size, int threads, nb::handle index_dtype) {
  const origin_of_arrays where = origin_of(points, "points");
  given_array array = points_from(points, where, 2);
  const int dimension = static_cast<int>(array.shape()[1]);
  catalog_arrays more;
  if (!velocities.is_none()) {
    more.velocities = points_from(velocities, where, 2, "velocities", array.type(), dimension);
  }
  more.potentials = reals_by_point(potentials, "potentials", array, where);
  more.densities = reals_by_point(densities, "densities", array, where);
  std::optional<given_array> numbers = indices_from(systems, "systems", array.shape()[0], where);
  const boxes_given boxes =
      boxes_from(box, dimension, periodic, origin, systems_of(numbers, box, dimension, where, threads));
  const bool long_indices = long_indices_from(index_dtype).value_or(where.long_indices());
  auto options = sized<quadrat_cluster_options>();
  options.type = c_type(array.type());
  options.dimension = dimension;
  options.cutoff = cutoff;
  options.min_points = min_points;
  options.accept_outside = boxes.open() ? 1 : 0;
  const quadrat_boxes space = boxes.view();
  const std::unique_ptr<cluster_handle> finder = made_at<cluster_handle>(where.at(threads), &space, &options);
  array.receive(*finder);
  if (numbers) numbers->receive(*finder);
  more.receive(*finder);
  results made(where);
  void* const rows = made.add(long_indices ? number::int64 : number::int32, {array.shape()[0]});
  made.prepare(*finder);
  const quadrat_points given = array.points();
  const quadrat_integers of_points = of(numbers);
  const quadrat_catalog_options wanted = more.options(least_size, by_size);
  std::string groups;
  unlocked([&] {
    finder->call(&c_functions::cluster_finder_find, &given, &of_points);
    auto found = sized<quadrat_cluster_catalog>();
    finder->call(&c_functions::cluster_finder_catalog, &wanted, &found);
    groups.resize(found.count * found.group_bytes);
    finder->on_context(&c_functions::copy, found.groups, groups.data(), groups.size());
    finder->call(&c_functions::cluster_finder_write_async, QUADRAT_CLUSTER_ROWS, index_type(long_indices), rows);
    finder->synchronize();
  });
  return nb::make_tuple(nb::bytes(groups.data(), groups.size()), std::string(name_of(array.type())), dimension,
                        made.take(0));
}

/// The small array of a setting, wherever it is, as NumPy's of float64.
[[nodiscard]] nb::object numbers_as_array(nb::handle value, const char* name) {
  const host_numbers given = numbers_from(value, name);
  results made({});
  std::copy(given.values.begin(), given.values.end(), static_cast<double*>(made.add(number::float64, given.shape)));
  return made.take(0);
}

/// The dimension of points, and the name of their precision.
[[nodiscard]] nb::tuple kind_of_points(nb::handle points) {
  const given_array array = points_from(points, origin_of(points, "points"), 1);
  return nb::make_tuple(array.shape()[1], std::string(name_of(array.type())));
}

/// Counts of pairs over frames of one kind, all on one device.
class histogram_of_frames {
 public:
  histogram_of_frames(double cutoff, std::uint32_t bins, std::uint32_t types, bool distinct, int threads)
      : threads_(threads) {
    options_.cutoff = cutoff;
    options_.bins = bins;
    options_.types = types;
    options_.distinct = distinct ? 1 : 0;
  }

  void add(nb::handle points, const char* name, nb::handle box, nb::handle periodic, nb::handle origin,
           nb::handle systems, nb::handle types) {
    const origin_of_arrays where = origin_of(points, name);
    given_array array = points_from(points, where, 2, name, type_, dimension_);
    const int dimension = static_cast<int>(array.shape()[1]);
    std::optional<given_array> systems_of_points = indices_from(systems, "systems", array.shape()[0], where);
    const boxes_given boxes =
        boxes_from(box, dimension, periodic, origin, systems_of(systems_of_points, box, dimension, where, threads_));
    std::optional<given_array> numbers = indices_from(types, "types", array.shape()[0], where);
    if (!counts_) {
      type_ = array.type();
      dimension_ = dimension;
      options_.type = c_type(array.type());
      options_.dimension = dimension_;
      options_.accept_outside = boxes.open() ? 1 : 0;
      counts_ = made_at<histogram_handle>(where.at(threads_), &options_);
      device_ = where.device;
    }
    if (where.device != device_) throw nb::value_error("the frames are in the memory of different devices");
    array.receive(*counts_);
    if (numbers) numbers->receive(*counts_);
    if (systems_of_points) systems_of_points->receive(*counts_);
    const quadrat_points given = array.points();
    const quadrat_boxes space = boxes.view();
    const quadrat_integers of_points = of(numbers), numbers_of_systems = of(systems_of_points);
    unlocked([&] {
      counts_->call(&c_functions::pair_histogram_add, &given, box.is_none() ? nullptr : &space, &numbers_of_systems,
                    &of_points);
    });
  }
  /// As NumPy's: (pairs of types, bins).
  [[nodiscard]] nb::tuple result() const {
    const auto found = counts_->get(&c_functions::pair_histogram_view);
    results made({});
    const std::vector<std::size_t> shape{found.pairs_of_types, found.bins};
    const std::size_t size = found.pairs_of_types * found.bins;
    std::copy_n(found.rdf, size, static_cast<double*>(made.add(number::float64, shape)));
    std::copy_n(found.counts, size, static_cast<std::int64_t*>(made.add(number::int64, shape)));
    return nb::make_tuple(made.take(0), made.take(1));
  }

 private:
  quadrat_histogram_options options_ = sized<quadrat_histogram_options>();
  int threads_;
  std::unique_ptr<histogram_handle> counts_;
  std::optional<number> type_;
  int dimension_ = 0;
  int device_ = -1;
};

}  // namespace

void add_search(nb::module_& module) {
  const auto any = [](const char* name) { return nb::arg(name).none(); };
  module.def("knn", &knn, nb::arg("points").none(), nb::arg("k"), any("box"), any("periodic"), any("origin"),
             nb::arg("cutoff"), any("queries"), any("systems"), any("systems_of_queries"), nb::arg("include_self"),
             nb::arg("shifts"), nb::arg("threads"), any("index_dtype"));
  module.def("clusters", &clusters, nb::arg("points").none(), nb::arg("cutoff"), any("box"), any("periodic"),
             any("origin"), any("systems"), nb::arg("min_points"), nb::arg("members"), nb::arg("threads"),
             any("index_dtype"));
  module.def("cluster_catalog", &cluster_catalog, any("points"), nb::arg("cutoff"), any("box"), any("periodic"),
             any("origin"), any("systems"), nb::arg("min_points"), any("velocities"), any("potentials"),
             any("densities"), nb::arg("least_size"), nb::arg("by_size"), nb::arg("threads"), any("index_dtype"));
  nb::class_<histogram_of_frames>(module, "PairHistogram")
      .def(nb::init<double, std::uint32_t, std::uint32_t, bool, int>())
      .def("add", &histogram_of_frames::add, nb::arg("points").none(), nb::arg("name"), any("box"), any("periodic"),
           any("origin"), any("systems"), any("types"))
      .def("result", &histogram_of_frames::result);
  module.def("boxes_in", &boxes_in, any("box"), nb::arg("dimension"), nb::arg("of"));
  module.def("numbers", &numbers_as_array, any("value"), nb::arg("name"));
  module.def("kind_of_points", &kind_of_points, any("points"));
}

}  // namespace quadrat::python
