// SPDX-License-Identifier: BSD-3-Clause
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <optional>
#include <string>

#include "arrays.hpp"
#include "modules.hpp"
#include "quadrat/search/cluster_finder.hpp"
#include "quadrat/search/nearest_neighbors.hpp"
#include "quadrat/search/neighbor_list.hpp"
#include "quadrat/search/pair_histogram.hpp"

namespace quadrat::python {

namespace {

/// A neighbor list and the arrays that are wanted of it: letters of "ijSdD".
template <typename T, int D>
class neighbor_search {
 public:
  neighbor_search(double cutoff, double skin, bool half, bool sorted, const std::string& outputs,
                  const std::string& method, bool open, int threads)
      : context_(context_with(threads)),
        outputs_(outputs),
        list_(context_, options(cutoff, skin, half, sorted, outputs, method, open)) {}

  /// Whether the list was built anew; without a skin it always is.
  bool update(const points_in<T, D>& points, const boxes_in& boxes, const systems_in& systems,
              const std::optional<points_in<T, D>>& queries, const systems_in& systems_of_queries) {
    const nb::gil_scoped_release unlocked;
    const std::vector<lattice<T, D>> shapes = boxes.lattices<T, D>();
    neighbor_input<T, D> input;
    input.points = view_of<T, D>(points);
    input.boxes = shapes;
    input.system_of_point = pointer_of(systems);
    if (queries) input.queries = view_of<T, D>(*queries);
    input.system_of_query = pointer_of(systems_of_queries);
    if (list_.options().skin > T(0)) return list_.update(input);
    list_.build(input);
    return true;
  }

  [[nodiscard]] nb::tuple arrays() {
    nb::list result;
    for (const char output : outputs_) result.append(array_of(output));
    return nb::tuple(result);
  }
  [[nodiscard]] std::string method() const { return std::string(list_.method()); }

 private:
  static neighbor_options<T> options(double cutoff, double skin, bool half, bool sorted, const std::string& outputs,
                                     const std::string& method, bool open) {
    const auto wanted = [&](char output) { return outputs.find(output) != std::string::npos; };
    neighbor_options<T> result;
    result.cutoff = static_cast<T>(cutoff);
    result.skin = static_cast<T>(skin);
    result.pairs = half ? neighbor_pairs::half : neighbor_pairs::full;
    result.layout = wanted('i') ? neighbor_layout::pairs : neighbor_layout::csr;
    result.sorted = sorted;
    result.shifts = wanted('S');
    result.vectors = wanted('D');
    result.squared_distances = wanted('d');
    result.accept_outside = open;
    result.method = method;
    return result;
  }

  template <typename U, typename Convert>
  [[nodiscard]] nb::object filled(std::vector<std::size_t> shape, std::size_t size, const Convert& convert) const {
    std::optional<new_array<U>> result;
    {
      const nb::gil_scoped_release unlocked;
      result.emplace(fill_array<U>(context_, std::move(shape), size, convert));
    }
    return result->release();
  }

  [[nodiscard]] nb::object array_of(char output) {
    const neighbor_list_view<T, D> view = list_.view();
    const auto size = static_cast<std::size_t>(list_.size());
    const auto dimension = static_cast<std::size_t>(D);
    switch (output) {
      case 'i':
        return filled<std::int64_t>({size}, size, [=](std::size_t k) { return index_of(view.first[k]); });
      case 'j':
        return filled<std::int64_t>({size}, size, [=](std::size_t k) { return index_of(view.neighbors[k]); });
      case 'S':
        return filled<std::int64_t>({size, dimension}, size * dimension, [=](std::size_t k) {
          return std::int64_t{view.shifts[k / dimension][static_cast<int>(k % dimension)]};
        });
      case 'd':
        return filled<T>({size}, size, [=](std::size_t k) { return std::sqrt(view.squared_distances[k]); });
      case 'D':
        return filled<T>({size, dimension}, size * dimension,
                         [=](std::size_t k) { return view.vectors[k / dimension][static_cast<int>(k % dimension)]; });
      default:  // 'n', where rows begin
        return filled<std::int64_t>({view.rows + 1}, view.rows + 1,
                                    [=](std::size_t k) { return static_cast<std::int64_t>(view.offsets[k]); });
    }
  }

  cpu_context context_;
  std::string outputs_;
  neighbor_list<cpu_context, T, D> list_;
};

template <typename T, int D>
nb::tuple find_nearest(const points_in<T, D>& points, const boxes_in& boxes, std::size_t k, double cutoff,
                       bool include_self, bool shifts, const std::optional<points_in<T, D>>& queries, int threads) {
  const cpu_context context = context_with(threads);
  std::optional<nearest_neighbors<cpu_context, T, D>> search;
  std::optional<new_array<std::int64_t>> neighbors, shift;
  std::optional<new_array<T>> distances;
  {
    const nb::gil_scoped_release unlocked;
    nearest_options<T> options;
    options.k = k;
    options.cutoff = static_cast<T>(cutoff);
    options.include_self = include_self;
    options.shifts = shifts;
    search.emplace(context, boxes.lattices<T, D>()[0], options);
    search->build(view_of<T, D>(points));
    if (queries) {
      search->search(view_of<T, D>(*queries));
    } else {
      search->search();
    }
    search->check();
    const nearest_view<T, D> view = search->view();
    const std::size_t size = view.rows * k;
    neighbors = fill_array<std::int64_t>(context, {view.rows, k}, size,
                                         [=](std::size_t e) { return index_of(view.neighbors[e]); });
    distances = fill_array<T>(context, {view.rows, k}, size,
                              [=](std::size_t e) { return std::sqrt(view.squared_distances[e]); });
    if (shifts) {
      shift = fill_array<std::int64_t>(
          context, {view.rows, k, static_cast<std::size_t>(D)}, size * D,
          [=](std::size_t e) { return std::int64_t{view.shifts[e / D][static_cast<int>(e % D)]}; });
    }
  }
  nb::object none = nb::none();
  return nb::make_tuple(neighbors->release(), distances->release(), shift ? shift->release() : none);
}

template <typename T, int D>
nb::object find_clusters(const points_in<T, D>& points, const boxes_in& boxes, double link, std::uint32_t min_points,
                         bool open, int threads) {
  const cpu_context context = context_with(threads);
  std::optional<new_array<std::int64_t>> labels;
  {
    const nb::gil_scoped_release unlocked;
    cluster_options<T> options;
    options.link = static_cast<T>(link);
    options.min_points = min_points;
    options.accept_outside = open;
    cluster_finder<cpu_context, T, D> finder(context, options, boxes.lattices<T, D>()[0]);
    finder.find(view_of<T, D>(points));
    const cluster_view view = finder.view();
    labels = fill_array<std::int64_t>(context, {view.points}, view.points,
                                      [=](std::size_t i) { return std::int64_t{view.labels[i]}; });
  }
  return labels->release();
}

/// Counts and g(r) by pair of types, over frames added one by one.
template <typename T, int D>
class histogram {
 public:
  histogram(double cutoff, std::size_t bins, std::uint32_t types, bool open, int threads)
      : histogram_(context_with(threads), options(cutoff, bins, types, open)) {}

  void add(const points_in<T, D>& points, const boxes_in& boxes, const systems_in& types) {
    const nb::gil_scoped_release unlocked;
    histogram_.add(view_of<T, D>(points), boxes.lattices<T, D>()[0], pointer_of(types));
  }
  [[nodiscard]] nb::tuple result() const {
    const pair_histogram_result found = histogram_.result();
    const std::size_t pairs = found.counts.size() / found.bins;
    const cpu_context context = context_with(1);
    auto counts = fill_array<std::int64_t>(context, {pairs, found.bins}, found.counts.size(),
                                           [&](std::size_t k) { return static_cast<std::int64_t>(found.counts[k]); });
    auto rdf =
        fill_array<double>(context, {pairs, found.bins}, found.rdf.size(), [&](std::size_t k) { return found.rdf[k]; });
    return nb::make_tuple(rdf.release(), counts.release());
  }

 private:
  static pair_histogram_options<T> options(double cutoff, std::size_t bins, std::uint32_t types, bool open) {
    pair_histogram_options<T> result;
    result.cutoff = static_cast<T>(cutoff);
    result.bins = bins;
    result.types = types;
    result.accept_outside = open;
    return result;
  }

  pair_histogram<cpu_context, T, D> histogram_;
};

template <typename T, int D>
void add_instances(nb::module_& module, const std::string& suffix) {
  using search = neighbor_search<T, D>;
  nb::class_<search>(module, ("NeighborSearch" + suffix).c_str())
      .def(nb::init<double, double, bool, bool, const std::string&, const std::string&, bool, int>())
      .def("update", &search::update, nb::arg("points"), nb::arg("boxes"), nb::arg("systems").none(),
           nb::arg("queries").none(), nb::arg("systems_of_queries").none())
      .def("arrays", &search::arrays)
      .def("method", &search::method);
  module.def(("nearest" + suffix).c_str(), &find_nearest<T, D>, nb::arg("points"), nb::arg("boxes"), nb::arg("k"),
             nb::arg("cutoff"), nb::arg("include_self"), nb::arg("shifts"), nb::arg("queries").none(),
             nb::arg("threads"));
  module.def(("clusters" + suffix).c_str(), &find_clusters<T, D>);
  nb::class_<histogram<T, D>>(module, ("Histogram" + suffix).c_str())
      .def(nb::init<double, std::size_t, std::uint32_t, bool, int>())
      .def("add", &histogram<T, D>::add, nb::arg("points"), nb::arg("boxes"), nb::arg("types").none())
      .def("result", &histogram<T, D>::result);
}

}  // namespace

void add_search(nb::module_& module) {
  add_instances<float, 2>(module, "_float32_2");
  add_instances<float, 3>(module, "_float32_3");
  add_instances<double, 2>(module, "_float64_2");
  add_instances<double, 3>(module, "_float64_3");
  std::vector<std::string> names;
  for (const neighbor_method& method : neighbor_methods()) names.emplace_back(method.name);
  module.attr("neighbor_methods") = nb::cast(names);
}

}  // namespace quadrat::python
