// SPDX-License-Identifier: BSD-3-Clause
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <tuple>

#include "boxes.hpp"
#include "modules.hpp"
#include "points.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/search/neighbor_list.hpp"

namespace quadrat::python {

namespace {

/// What is given for each point, or for each query: arguments and their names.
struct attribute_arguments {
  nb::handle systems, radii, types;
};
struct attribute_names {
  const char *of, *systems, *radii, *types;
};
constexpr attribute_names of_points{"points", "systems", "radii", "types"};
constexpr attribute_names of_queries{"queries", "systems_of_queries", "radii_of_queries", "types_of_queries"};

/// What a list is updated to.
struct update_arguments {
  nb::handle points, box, periodic, origin, queries;
  attribute_arguments by_point, by_query;
  nb::handle excluded;
};

/// A table of T x T cutoffs; empty for None.
[[nodiscard]] std::vector<double> table_from(nb::handle table) {
  if (table.is_none()) return {};
  host_numbers given = numbers_from(table, "type_cutoffs");
  if (given.shape.size() != 2 || given.shape[0] != given.shape[1]) {
    throw nb::value_error(
        message("type_cutoffs have the shape ", shape_text(given.shape), "; a square table is needed").c_str());
  }
  return std::move(given.values);
}

/// One number by point or query; nothing for None.
[[nodiscard]] std::optional<given_array> radii_from(nb::handle radii, const attribute_names& names, std::size_t count,
                                                    number type, const origin_of_arrays& where) {
  if (radii.is_none()) return std::nullopt;
  given_array result = floats(radii, names.radii, where, type);
  if (result.shape() != std::vector<std::size_t>{count}) {
    throw nb::value_error(message(names.radii, " have the shape ", shape_text(result.shape()), "; one for each of the ",
                                  count, " ", names.of, " is needed")
                              .c_str());
  }
  return result;
}

/// The arrays of a kind of arguments; those that are None are empty.
struct attributes {
  std::optional<given_array> systems, radii, types;

  attributes(const attribute_arguments& given, const attribute_names& names, std::size_t count, number type,
             const origin_of_arrays& where)
      : systems(indices_from(given.systems, names.systems, count, where, names.of)),
        radii(radii_from(given.radii, names, count, type, where)),
        types(indices_from(given.types, names.types, count, where, names.of)) {}

  void receive(worker& reader) {
    for (auto* const array : {&systems, &radii, &types}) {
      if (*array) (*array)->receive(reader);
    }
  }
  [[nodiscard]] const void* radii_given() const { return radii ? radii->data() : nullptr; }
};

/// Refuses what would not be read.
void check_all_are_used(const update_arguments& given, int rule) {
  const auto check = [](nb::handle value, const char* name, bool used, const char* reason) {
    if (!used && !value.is_none()) throw nb::value_error(message(name, " are given", reason).c_str());
  };
  const auto named = static_cast<cutoff_rule>(rule);
  const bool types = named == cutoff_rule::table_of_types, radii = !types && named != cutoff_rule::uniform;
  for (const auto& [values, names] :
       {std::pair(&given.by_point, &of_points), std::pair(&given.by_query, &of_queries)}) {
    const bool used = names == &of_points || !given.queries.is_none();
    for (const auto& [value, name] : {std::pair(values->systems, names->systems),
                                      std::pair(values->radii, names->radii), std::pair(values->types, names->types)}) {
      check(value, name, used, " without queries");
    }
    check(values->radii, names->radii, radii, "; the rule must then be sum_of_radii, larger_radius or own_radius");
    check(values->types, names->types, types,
          " without type_cutoffs, the table that says how near types are neighbors");
  }
}

[[nodiscard]] std::vector<std::array<std::uint32_t, 2>> excluded_from(nb::handle pairs, std::size_t points) {
  std::vector<std::array<std::uint32_t, 2>> result;
  if (pairs.is_none()) return result;
  const host_numbers given = numbers_from(pairs, "excluded");
  if (!given.values.empty() && (given.shape.size() != 2 || given.shape[1] != 2)) {
    throw nb::value_error(
        message("excluded have the shape ", shape_text(given.shape), "; (P, 2) integers are needed").c_str());
  }
  const auto last = static_cast<double>(points);
  for (std::size_t p = 0; p + 1 < given.values.size(); p += 2) {
    const double a = given.values[p], b = given.values[p + 1];
    if (!(a >= 0 && b >= 0 && a < last && b < last) || a != std::floor(a) || b != std::floor(b)) {
      throw nb::value_error(
          message("excluded[", p / 2, "] is (", a, ", ", b, "); there are ", points, " points").c_str());
    }
    result.push_back({static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b)});
  }
  return result;
}

/// Lists on GPUs that calls of the function have left: making and freeing the page-locked memory of a list takes a
/// millisecond. Small ones only, since they keep what they have worked in.
class spare_lists {
 public:
  /// Device, determinism, precision, dimension, and the rest.
  using key = std::tuple<int, determinism, bool, int, neighbor_settings>;

  static std::unique_ptr<neighbor_search> take(const key& wanted) {
    spare_lists& spare = instance();
    const std::lock_guard<std::mutex> lock(spare.mutex_);
    if (spare.owner_ != getpid()) return nullptr;  // CUDA's memory is not that of a forked process
    for (auto& [kind, list] : spare.lists_) {
      if (list && kind == wanted) return std::move(list);
    }
    return nullptr;
  }
  static void give(key kind, std::unique_ptr<neighbor_search> list) {
    if (list->bytes() > most_bytes) return;
    spare_lists& spare = instance();
    const std::lock_guard<std::mutex> lock(spare.mutex_);
    if (spare.owner_ != getpid()) return;
    auto& [former, place] = spare.lists_[spare.next_];
    spare.next_ = (spare.next_ + 1) % spare.lists_.size();
    former = std::move(kind);
    list.swap(place);  // the former one is freed after the lock
  }

 private:
  static constexpr std::size_t most_bytes = std::size_t{64} << 20;
  /// Never destroyed: CUDA may be gone by then.
  static spare_lists& instance() {
    static auto* const spare = new spare_lists;
    return *spare;
  }
  std::mutex mutex_;
  pid_t owner_ = getpid();
  std::array<std::pair<key, std::unique_ptr<neighbor_search>>, 4> lists_;
  std::size_t next_ = 0;
};

/// A neighbor list on the device of its last points, and the arrays of it that are wanted.
class neighbors {
 public:
  neighbors(neighbor_settings settings, nb::handle type_cutoffs, int level, int threads, nb::handle index_dtype)
      : settings_(std::move(settings)),
        level_(static_cast<determinism>(level)),
        threads_(threads),
        long_indices_(long_indices_from(index_dtype)) {
    settings_.type_cutoffs = table_from(type_cutoffs);
  }

  bool update(const update_arguments& given, bool anew) {
    const origin_of_arrays where = origin_of(given.points, "points");
    check_all_are_used(given, settings_.rule);
    point_arrays arrays = point_arrays_from(given.points, given.queries, where);
    const std::size_t count = arrays.points.shape()[0];
    attributes by_point(given.by_point, of_points, count, arrays.points.type(), where);
    attributes by_query(given.by_query, of_queries, arrays.rows(), arrays.points.type(), where);
    const int dimension = arrays.dimension();
    neighbor_given input;
    input.boxes = boxes_from(given.box, dimension, given.periodic, given.origin,
                             systems_of(by_point.systems, given.box, dimension, where, threads_));
    input.excluded = excluded_from(given.excluded, count);
    const turn mine(mutex_);
    current_ = false;
    prepare(where, arrays.wide(), dimension, input.boxes.open());
    arrays.receive(*search_);
    by_point.receive(*search_);
    by_query.receive(*search_);
    input.points = arrays.points.points();
    input.queries = arrays.queries_given();
    input.systems = of(by_point.systems);
    input.systems_of_queries = of(by_query.systems);
    input.radii = by_point.radii_given();
    input.radii_of_queries = by_query.radii_given();
    input.types = of(by_point.types);
    input.types_of_queries = of(by_query.types);
    const bool built = unlocked([&] { return search_->update(input, anew); });
    where_ = where;
    current_ = true;
    return built;
  }

  [[nodiscard]] nb::object arrays() {
    const turn mine(mutex_);
    if (!current_) {
      throw nb::value_error("there is no list: no points yet, or the last call failed; call build or update");
    }
    const bool long_indices = long_indices_.value_or(where_.long_indices());
    results made(where_, where_.engine());
    std::vector<void*> memory;
    for (const char output : settings_.outputs) memory.push_back(add(made, output, long_indices));
    made.prepare(*search_);
    unlocked([&] {
      for (std::size_t k = 0; k < memory.size(); ++k) search_->write(settings_.outputs[k], long_indices, memory[k]);
      search_->synchronize();
    });
    if (made.count() == 1) return made.take(0);
    nb::list all;
    for (std::size_t k = 0; k < made.count(); ++k) all.append(made.take(k));
    return nb::tuple(all);
  }
  /// Leaves the list to later calls.
  void leave() {
    if (search_ && where_.on_gpu()) spare_lists::give(spare_key(), std::move(search_));
  }
  [[nodiscard]] std::string method() {
    const turn mine(mutex_);
    return current_ ? search_->method() : std::string();
  }

 private:
  void prepare(const origin_of_arrays& where, bool wide, int dimension, bool open) {
    const auto kind = std::make_tuple(where.device, wide, dimension, open);
    if (search_ && kind == kind_) return;
    search_.reset();
    kind_ = kind;
    const spare_lists::key wanted = spare_key();
    if (where.on_gpu()) search_ = spare_lists::take(wanted);
    if (search_) return;
    search_ = made_by(where, [&](backend& engine) {
      return engine.make_neighbor_search({where.device, threads_, level_}, wide, dimension, std::get<4>(wanted));
    });
  }
  [[nodiscard]] spare_lists::key spare_key() const {
    neighbor_settings settings = settings_;
    settings.open = std::get<3>(kind_);
    return {std::get<0>(kind_), level_, std::get<1>(kind_), std::get<2>(kind_), std::move(settings)};
  }
  void* add(results& made, char output, bool long_indices) {
    const std::size_t size = search_->size();
    const auto dimension = static_cast<std::size_t>(std::get<2>(kind_));
    const number indices = long_indices ? number::int64 : number::int32;
    const number real = std::get<1>(kind_) ? number::float64 : number::float32;
    if (output == 'S') return made.add(indices, {size, dimension});
    if (output == 'D') return made.add(real, {size, dimension});
    if (output == 'd') return made.add(real, {size});
    return made.add(indices, {output == 'n' ? search_->rows() + 1 : size});
  }

  neighbor_settings settings_;
  determinism level_;
  int threads_;
  std::optional<bool> long_indices_;
  std::mutex mutex_;
  std::unique_ptr<neighbor_search> search_;
  std::tuple<int, bool, int, bool> kind_{};
  origin_of_arrays where_{};
  bool current_ = false;  ///< whether the list belongs to the last points
};

[[nodiscard]] nb::object find_pairs(const update_arguments& given, neighbor_settings settings, nb::handle type_cutoffs,
                                    int level, int threads, nb::handle index_dtype) {
  neighbors list(std::move(settings), type_cutoffs, level, threads, index_dtype);
  list.update(given, true);
  nb::object arrays = list.arrays();
  list.leave();
  return arrays;
}

}  // namespace

void add_lists(nb::module_& module) {
  const auto any = [](const char* name) { return nb::arg(name).none(); };
  nb::class_<neighbors>(module, "Neighbors")
      .def(
          "__init__",
          [](neighbors* self, double cutoff, double skin, int rule, nb::handle type_cutoffs, bool half, bool sorted,
             std::string outputs, bool autotune, std::string method, int level, int threads, nb::handle index_dtype) {
            new (self) neighbors({cutoff, skin, half, sorted, std::move(outputs), autotune, std::move(method), rule},
                                 type_cutoffs, level, threads, index_dtype);
          },
          nb::arg("cutoff"), nb::arg("skin"), nb::arg("rule"), any("type_cutoffs"), nb::arg("half"), nb::arg("sorted"),
          nb::arg("outputs"), nb::arg("autotune"), nb::arg("method"), nb::arg("level"), nb::arg("threads"),
          any("index_dtype"))
      .def(
          "update",
          [](neighbors& self, nb::handle points, nb::handle box, nb::handle periodic, nb::handle origin,
             nb::handle queries, nb::handle systems, nb::handle systems_of_queries, nb::handle radii, nb::handle types,
             nb::handle radii_of_queries, nb::handle types_of_queries, nb::handle excluded, bool anew) {
            return self.update({points,
                                box,
                                periodic,
                                origin,
                                queries,
                                {systems, radii, types},
                                {systems_of_queries, radii_of_queries, types_of_queries},
                                excluded},
                               anew);
          },
          any("points"), any("box"), any("periodic"), any("origin"), any("queries"), any("systems"),
          any("systems_of_queries"), any("radii"), any("types"), any("radii_of_queries"), any("types_of_queries"),
          any("excluded"), nb::arg("anew"))
      .def("arrays", &neighbors::arrays)
      .def("method", &neighbors::method);
  module.def(
      "neighbor_list",
      [](nb::handle points, double cutoff, nb::handle box, nb::handle periodic, nb::handle origin, nb::handle queries,
         nb::handle systems, nb::handle systems_of_queries, int rule, nb::handle radii, nb::handle types,
         nb::handle radii_of_queries, nb::handle types_of_queries, nb::handle type_cutoffs, nb::handle excluded,
         bool half, bool sorted, std::string outputs, std::string method, int level, int threads,
         nb::handle index_dtype) {
        return find_pairs({points,
                           box,
                           periodic,
                           origin,
                           queries,
                           {systems, radii, types},
                           {systems_of_queries, radii_of_queries, types_of_queries},
                           excluded},
                          {cutoff, 0.0, half, sorted, std::move(outputs), false, std::move(method), rule}, type_cutoffs,
                          level, threads, index_dtype);
      },
      any("points"), nb::arg("cutoff"), any("box"), any("periodic"), any("origin"), any("queries"), any("systems"),
      any("systems_of_queries"), nb::arg("rule"), any("radii"), any("types"), any("radii_of_queries"),
      any("types_of_queries"), any("type_cutoffs"), any("excluded"), nb::arg("half"), nb::arg("sorted"),
      nb::arg("outputs"), nb::arg("method"), nb::arg("level"), nb::arg("threads"), any("index_dtype"));
}

}  // namespace quadrat::python
