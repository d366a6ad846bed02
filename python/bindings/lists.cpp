// SPDX-License-Identifier: BSD-3-Clause
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include "boxes.hpp"
#include "modules.hpp"
#include "own_process.hpp"
#include "points.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::python {

namespace {

/// The quadrat_neighbor_output of a letter.
[[nodiscard]] int number_of(char output) {
  switch (output) {
    case 'i':
      return QUADRAT_NEIGHBOR_FIRST;
    case 'j':
      return QUADRAT_NEIGHBOR_INDICES;
    case 'S':
      return QUADRAT_NEIGHBOR_SHIFTS;
    case 'd':
      return QUADRAT_NEIGHBOR_DISTANCES;
    case 'D':
      return QUADRAT_NEIGHBOR_VECTORS;
    default:  // 'n', where rows begin
      return QUADRAT_NEIGHBOR_OFFSETS;
  }
}

/// The settings that determine the kind of list.
struct neighbor_settings {
  double cutoff = 0;
  double skin = 0;
  bool half = false;
  bool sorted = false;
  std::string outputs{};  ///< letters of "ijSdDn"
  bool autotune = false;
  std::string method{};
  int rule = 0;                        ///< quadrat_cutoff_rule
  std::vector<double> type_cutoffs{};  ///< types x types
  int type = 0;                        ///< this and the following: of the points
  int dimension = 0;
  bool open = false;

  friend bool operator==(const neighbor_settings&, const neighbor_settings&) = default;

  /// The struct of the C interface; it points into this object.
  [[nodiscard]] quadrat_neighbor_options options() const {
    auto result = sized<quadrat_neighbor_options>();
    result.type = type;
    result.dimension = dimension;
    result.cutoff = cutoff;
    result.skin = skin;
    for (const char output : outputs) result.outputs |= number_of(output);
    result.half = half ? 1 : 0;
    result.sorted = sorted ? 1 : 0;
    result.rule = rule;
    result.accept_outside = open ? 1 : 0;
    result.autotune = autotune ? 1 : 0;
    result.type_cutoffs = type_cutoffs.data();
    while (result.types * result.types < type_cutoffs.size()) ++result.types;
    result.method = method.c_str();
    return result;
  }
};

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

/// The arrays of the arguments.
struct update_arrays {
  point_arrays places;
  attributes by_point, by_query;

  update_arrays(const update_arguments& given, const origin_of_arrays& where)
      : places(point_arrays_from(given.points, given.queries, where)),
        by_point(given.by_point, of_points, count(), places.points.type(), where),
        by_query(given.by_query, of_queries, places.rows(), places.points.type(), where) {}

  [[nodiscard]] std::size_t count() const { return places.points.shape()[0]; }
  /// What the reader is given; valid as long as this. `integers`: instead of the type of 32-bit integers.
  [[nodiscard]] quadrat_neighbor_input received(worker& reader, const boxes_given& boxes,
                                                int integers = QUADRAT_INT32) {
    places.receive(reader);
    by_point.receive(reader);
    by_query.receive(reader);
    queries_ = places.queries_given();
    auto input = sized<quadrat_neighbor_input>();
    input.points = places.points.points();
    input.boxes = boxes.view();
    input.queries = queries_ ? &*queries_ : nullptr;
    input.system_of_point = of(by_point.systems);
    input.system_of_query = of(by_query.systems);
    input.radii = by_point.radii_given();
    input.radii_of_queries = by_query.radii_given();
    input.types = of(by_point.types);
    input.types_of_queries = of(by_query.types);
    for (auto* const given : {&input.system_of_point, &input.system_of_query, &input.types, &input.types_of_queries}) {
      if (given->type == QUADRAT_INT32) given->type = integers;
    }
    return input;
  }

 private:
  std::optional<quadrat_points> queries_{};
};

/// Refuses what would not be read.
void check_all_are_used(const update_arguments& given, int rule) {
  const auto check = [](nb::handle value, const char* name, bool used, const char* reason) {
    if (!used && !value.is_none()) throw nb::value_error(message(name, " are given", reason).c_str());
  };
  const bool types = rule == QUADRAT_TABLE_OF_TYPES, radii = !types && rule != QUADRAT_UNIFORM;
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

[[nodiscard]] std::vector<std::uint32_t> excluded_from(nb::handle pairs, std::size_t points) {
  std::vector<std::uint32_t> result;
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
    result.insert(result.end(), {static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b)});
  }
  return result;
}

/// Lists on GPUs that calls of the function have left: making and freeing the page-locked memory of a list takes a
/// millisecond. Small ones only, since they keep what they have worked in.
class spare_lists {
 public:
  using key = std::pair<place, neighbor_settings>;

  static std::unique_ptr<neighbor_list_handle> take(const key& wanted) {
    spare_lists& spare = instance();
    const std::lock_guard<std::mutex> lock(spare.mutex_);
    if (!in_own_process<gpu_of_process>()) return nullptr;
    for (auto& [kind, list] : spare.lists_) {
      if (list && kind == wanted) return std::move(list);
    }
    return nullptr;
  }
  static void give(key kind, std::unique_ptr<neighbor_list_handle> list) {
    if (list->get(&c_functions::neighbor_list_info).bytes > most_bytes) return;
    spare_lists& spare = instance();
    const std::lock_guard<std::mutex> lock(spare.mutex_);
    if (!in_own_process<gpu_of_process>()) return;
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
  std::array<std::pair<key, std::unique_ptr<neighbor_list_handle>>, 4> lists_;
  std::size_t next_ = 0;
};

/// A neighbor list on the device of its last points, and the arrays of it that are wanted. With a capacity they have
/// that many entries, and builds can be captured in a CUDA graph.
class neighbors {
 public:
  neighbors(neighbor_settings settings, nb::handle type_cutoffs, int level, int threads, nb::handle index_dtype,
            std::optional<std::size_t> capacity = std::nullopt)
      : settings_(std::move(settings)),
        level_(level),
        threads_(threads),
        long_indices_(long_indices_from(index_dtype)),
        capacity_(capacity) {
    settings_.type_cutoffs = table_from(type_cutoffs);
  }

  bool update(const update_arguments& given, bool anew) {
    const origin_of_arrays where = origin_of(given.points, "points");
    check_all_are_used(given, settings_.rule);
    update_arrays arrays(given, where);
    const int dimension = arrays.places.dimension();
    boxes_given boxes = boxes_from(
        given.box, dimension, given.periodic, given.origin,
        systems_of(arrays.by_point.systems, given.box, dimension, where, threads_, &arrays.by_query.systems));
    const std::vector<std::uint32_t> excluded = excluded_from(given.excluded, arrays.count());
    const turn mine(mutex_);
    current_ = false;
    prepare(where, c_type(arrays.places.points.type()), dimension, boxes.open());
    quadrat_neighbor_input input = arrays.received(*search_, boxes);
    search_->refuse_capture();
    input.excluded = excluded.data();
    input.excluded_count = excluded.size() / 2;
    int built = 1;
    unlocked([&] {
      if (!anew && settings_.skin > 0) return search_->call(&c_functions::neighbor_list_update, &input, &built);
      search_->call(&c_functions::neighbor_list_build, &input);
      if (capacity_) reserve(input);
    });
    where_ = where;
    boxes_ = std::move(boxes);
    current_ = true;
    return built != 0;
  }
  /// Builds without waiting for as many points of the same device and type in the boxes of the last `update`, whose
  /// memory it needs. Indices by point have 32 bits. For lists with a capacity.
  void build_async(const update_arguments& given) {
    const origin_of_arrays where = origin_of(given.points, "points");
    check_all_are_used(given, settings_.rule);
    update_arrays arrays(given, where);
    const turn mine(mutex_);
    const int type = c_type(arrays.places.points.type());
    if (!current_ || where.device != where_.device || type != kind_.second.type ||
        arrays.places.dimension() != kind_.second.dimension) {
      throw nb::value_error("there is no list for such points whose memory could be used; call update");
    }
    const quadrat_neighbor_input input = arrays.received(*search_, boxes_, QUADRAT_UINT32);
    within_capacity([&] {
      search_->call(&c_functions::neighbor_list_build_async, &input);
      search_->finish();
    });
  }
  /// Throws the error of the builds since the last check.
  void check() {
    const turn mine(mutex_);
    if (search_) within_capacity([&] { search_->call(&c_functions::neighbor_list_check); });
  }

  [[nodiscard]] nb::object arrays() {
    const turn mine(mutex_);
    if (!current_) {
      throw nb::value_error("there is no list: no points yet, or the last call failed; call build or update");
    }
    const bool long_indices = long_indices_.value_or(where_.long_indices());
    const auto list = capacity_ ? quadrat_neighbor_view{} : search_->get(&c_functions::neighbor_list_view);
    const std::size_t size = capacity_.value_or(static_cast<std::size_t>(list.entries));
    results made(where_);
    std::vector<void*> memory;
    for (const char output : settings_.outputs) memory.push_back(add(made, list.rows, size, output, long_indices));
    made.prepare(*search_);
    if (!capacity_) search_->refuse_capture();
    unlocked([&] {
      for (std::size_t k = 0; k < memory.size(); ++k) {
        const int output = number_of(settings_.outputs[k]), type = index_type(long_indices);
        if (capacity_) {
          search_->call(&c_functions::neighbor_list_write_padded_async, output, type, size, memory[k]);
        } else {
          search_->call(&c_functions::neighbor_list_write_async, output, type, memory[k]);
        }
      }
      search_->finish();
    });
    if (made.count() == 1) return made.take(0);
    nb::list all;
    for (std::size_t k = 0; k < made.count(); ++k) all.append(made.take(k));
    return nb::tuple(all);
  }
  /// Leaves the list to later calls.
  void leave() {
    if (search_ && where_.on_gpu()) spare_lists::give(kind_, std::move(search_));
  }
  [[nodiscard]] std::string method() {
    const turn mine(mutex_);
    return current_ ? search_->get(&c_functions::neighbor_list_info).method : std::string();
  }

 private:
  void prepare(const origin_of_arrays& where, int type, int dimension, bool open) {
    spare_lists::key kind{where.at(threads_, level_), settings_};
    kind.second.type = type;
    kind.second.dimension = dimension;
    kind.second.open = open;
    if (search_ && kind == kind_) return;
    search_.reset();
    reserved_ = false;
    kind_ = std::move(kind);
    if (where.on_gpu() && !capacity_) search_ = spare_lists::take(kind_);
    if (search_) return;
    const quadrat_neighbor_options options = kind_.second.options();
    search_ = made_at<neighbor_list_handle>(kind_.first, &options);
  }
  /// Gives a list that has just been built room for exactly the capacity.
  void reserve(const quadrat_neighbor_input& input) {
    const std::uint64_t entries = search_->get(&c_functions::neighbor_list_view).entries;
    if (entries > *capacity_) {
      search_.reset();  // it has more room now
      refuse(entries);
    }
    if (reserved_) return;
    search_->call(&c_functions::neighbor_list_reserve, *capacity_);
    search_->call(&c_functions::neighbor_list_build, &input);
    reserved_ = true;
  }
  [[noreturn]] void refuse(std::uint64_t entries) const {
    throw argument_error(message("there are ", entries, " pairs; the capacity is ", *capacity_));
  }
  template <typename Call>
  void within_capacity(const Call& call) const {
    try {
      unlocked(call);
    } catch (const overflow_error& problem) {
      refuse(problem.needed());
    }
  }
  void* add(results& made, std::size_t rows, std::size_t size, char output, bool long_indices) {
    const auto dimension = static_cast<std::size_t>(kind_.second.dimension);
    const number indices = long_indices ? number::int64 : number::int32;
    const number real = kind_.second.type == QUADRAT_FLOAT64 ? number::float64 : number::float32;
    if (output == 'S') return made.add(indices, {size, dimension});
    if (output == 'D') return made.add(real, {size, dimension});
    if (output == 'd') return made.add(real, {size});
    return made.add(indices, {output == 'n' ? rows + 1 : size});
  }

  neighbor_settings settings_;
  int level_;
  int threads_;
  std::optional<bool> long_indices_;
  std::optional<std::size_t> capacity_;
  std::mutex mutex_;
  std::unique_ptr<neighbor_list_handle> search_;
  spare_lists::key kind_{};
  origin_of_arrays where_{};
  boxes_given boxes_{};
  bool reserved_ = false;
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
             std::string outputs, bool autotune, std::string method, int level, int threads, nb::handle index_dtype,
             std::optional<std::size_t> capacity) {
            new (self) neighbors({cutoff, skin, half, sorted, std::move(outputs), autotune, std::move(method), rule},
                                 type_cutoffs, level, threads, index_dtype, capacity);
          },
          nb::arg("cutoff"), nb::arg("skin"), nb::arg("rule"), any("type_cutoffs"), nb::arg("half"), nb::arg("sorted"),
          nb::arg("outputs"), nb::arg("autotune"), nb::arg("method"), nb::arg("level"), nb::arg("threads"),
          any("index_dtype"), nb::arg("capacity") = nb::none())
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
      .def(
          "build_async",
          [](neighbors& self, nb::handle points, nb::handle queries, nb::handle systems, nb::handle systems_of_queries,
             nb::handle radii, nb::handle types, nb::handle radii_of_queries, nb::handle types_of_queries) {
            const nb::none none;
            self.build_async({points,
                              none,
                              none,
                              none,
                              queries,
                              {systems, radii, types},
                              {systems_of_queries, radii_of_queries, types_of_queries},
                              none});
          },
          any("points"), any("queries"), any("systems"), any("systems_of_queries"), any("radii"), any("types"),
          any("radii_of_queries"), any("types_of_queries"))
      .def("check", &neighbors::check)
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
