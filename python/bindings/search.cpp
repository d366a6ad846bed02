// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <memory>
#include <string>

#include "boxes.hpp"
#include "modules.hpp"
#include "points.hpp"

namespace quadrat::python {

namespace {

[[nodiscard]] nb::tuple knn(nb::handle points, std::size_t k, nb::handle box, nb::handle periodic, nb::handle origin,
                            double cutoff, nb::handle queries, bool include_self, bool shifts, int threads,
                            nb::handle index_dtype) {
  const origin_of_arrays where = origin_of(points, "points");
  point_arrays arrays = point_arrays_from(points, queries, where);
  const int dimension = arrays.dimension();
  const boxes_given boxes = boxes_from(box, dimension, periodic, origin);
  const bool long_indices = long_indices_from(index_dtype).value_or(where.long_indices());
  const number indices = long_indices ? number::int64 : number::int32;
  const std::unique_ptr<session> worker = made_by(where, [&](backend& engine) {
    return engine.make_session({where.device, threads});
  });
  arrays.receive(*worker);
  results made(where, where.engine());
  nearest_results to;
  to.neighbors = made.add(indices, {arrays.rows(), k});
  if (shifts) to.shifts = made.add(indices, {arrays.rows(), k, static_cast<std::size_t>(dimension)});
  to.distances = made.add(arrays.points.type(), {arrays.rows(), k});
  made.prepare(*worker);
  unlocked([&] {
    worker->nearest(arrays.wide(), dimension, arrays.points.points(), arrays.queries_given(), boxes,
                    {k, cutoff, include_self}, long_indices, to);
  });
  const std::size_t last = made.count() - 1;
  return nb::make_tuple(made.take(0), made.take(last), shifts ? made.take(1) : nb::object(nb::none()));
}

/// Labels; with `members` also where the rows of members begin, the members, and the centers.
[[nodiscard]] nb::object clusters(nb::handle points, double cutoff, nb::handle box, nb::handle periodic,
                                  nb::handle origin, std::uint32_t min_points, bool members, int threads,
                                  nb::handle index_dtype) {
  const origin_of_arrays where = origin_of(points, "points");
  given_array array = points_from(points, where, 2);
  const std::size_t dimension = array.shape()[1];
  const boxes_given boxes = boxes_from(box, static_cast<int>(dimension), periodic, origin);
  const bool long_indices = long_indices_from(index_dtype).value_or(where.long_indices());
  const number index = long_indices ? number::int64 : number::int32;
  const std::unique_ptr<session> worker = made_by(where, [&](backend& engine) {
    return engine.make_session({where.device, threads});
  });
  array.receive(*worker);
  results made(where, where.engine());
  void* const labels = made.add(index, {array.shape()[0]});
  made.prepare(*worker);
  const cluster_counts found = unlocked([&] {
    return worker->clusters(is_wide(array.type()), static_cast<int>(dimension), array.points(), boxes, cutoff,
                            min_points, long_indices, labels, members);
  });
  if (!members) return made.take(0);
  results more(where, where.engine());
  void* const offsets = more.add(index, {found.clusters + 1});
  void* const of_labels = more.add(index, {found.members});
  void* const centers = more.add(array.type(), {found.clusters, dimension});
  more.prepare(*worker);
  unlocked([&] { worker->write_members(long_indices, offsets, of_labels, centers); });
  return nb::make_tuple(made.take(0), more.take(0), more.take(1), more.take(2));
}

/// The small array of a setting, wherever it is, as NumPy's of float64.
[[nodiscard]] nb::object numbers_as_array(nb::handle value, const char* name) {
  const host_numbers given = numbers_from(value, name);
  results made({}, cpu_backend());
  std::copy(given.values.begin(), given.values.end(), static_cast<double*>(made.add(number::float64, given.shape)));
  return made.take(0);
}

/// The dimension of points, and the name of their precision.
[[nodiscard]] nb::tuple kind_of_points(nb::handle points) {
  const given_array array = points_from(points, origin_of(points, "points"), 1);
  return nb::make_tuple(array.shape()[1], std::string(name_of(array.type())));
}

/// Counts of pairs over frames of one kind, all on one device.
class pair_counts {
 public:
  pair_counts(double cutoff, std::size_t bins, std::uint32_t types, bool distinct, int threads)
      : settings_{cutoff, bins, types, false, distinct}, threads_(threads) {}

  void add(nb::handle points, const char* name, nb::handle box, nb::handle periodic, nb::handle origin,
           nb::handle types) {
    const origin_of_arrays where = origin_of(points, name);
    given_array array = points_from(points, where, 2, name, type_, dimension_);
    const boxes_given boxes = boxes_from(box, static_cast<int>(array.shape()[1]), periodic, origin);
    std::optional<given_array> numbers = indices_from(types, "types", array.shape()[0], where);
    if (!counts_) {
      type_ = array.type();
      dimension_ = static_cast<int>(array.shape()[1]);
      settings_.open = boxes.open();
      counts_ = made_by(where, [&](backend& engine) {
        return engine.make_histogram({where.device, threads_}, is_wide(array.type()), dimension_, settings_);
      });
      device_ = where.device;
    }
    if (where.device != device_) throw nb::value_error("the frames are in the memory of different devices");
    array.receive(*counts_);
    if (numbers) numbers->receive(*counts_);
    const bool around = box.is_none();
    unlocked([&] { counts_->add(array.points(), boxes, around, of(numbers)); });
  }
  /// As NumPy's: (pairs of types, bins).
  [[nodiscard]] nb::tuple result() const {
    std::vector<double> rdf;
    std::vector<std::uint64_t> counts;
    counts_->result(rdf, counts);
    results made({}, cpu_backend());
    const std::vector<std::size_t> shape{counts.size() / settings_.bins, settings_.bins};
    std::copy(rdf.begin(), rdf.end(), static_cast<double*>(made.add(number::float64, shape)));
    std::copy(counts.begin(), counts.end(), static_cast<std::int64_t*>(made.add(number::int64, shape)));
    return nb::make_tuple(made.take(0), made.take(1));
  }

 private:
  histogram_settings settings_;
  int threads_;
  std::unique_ptr<histogram> counts_;
  std::optional<number> type_;
  int dimension_ = 0;
  int device_ = -1;
};

}  // namespace

void add_search(nb::module_& module) {
  const auto any = [](const char* name) { return nb::arg(name).none(); };
  module.def("knn", &knn, nb::arg("points").none(), nb::arg("k"), any("box"), any("periodic"), any("origin"),
             nb::arg("cutoff"), any("queries"), nb::arg("include_self"), nb::arg("shifts"), nb::arg("threads"),
             any("index_dtype"));
  module.def("clusters", &clusters, nb::arg("points").none(), nb::arg("cutoff"), any("box"), any("periodic"),
             any("origin"), nb::arg("min_points"), nb::arg("members"), nb::arg("threads"), any("index_dtype"));
  nb::class_<pair_counts>(module, "PairCounts")
      .def(nb::init<double, std::size_t, std::uint32_t, bool, int>())
      .def("add", &pair_counts::add, nb::arg("points").none(), nb::arg("name"), any("box"), any("periodic"),
           any("origin"), any("types"))
      .def("result", &pair_counts::result);
  module.def("boxes_in", &boxes_in, any("box"), nb::arg("dimension"), nb::arg("of"));
  module.def("numbers", &numbers_as_array, any("value"), nb::arg("name"));
  module.def("kind_of_points", &kind_of_points, any("points"));
}

}  // namespace quadrat::python
