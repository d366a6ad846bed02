// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/search/neighbor_list.hpp"

#include <array>

#include "c/arrays.hpp"
#include "core/backend.hpp"

struct quadrat_neighbor_list : quadrat::c::handle {
  virtual bool build(const quadrat_neighbor_input& given, bool update) = 0;
  virtual void build_async(const quadrat_neighbor_input& given) = 0;
  virtual void check() = 0;
  [[nodiscard]] virtual quadrat_neighbor_view view() = 0;
  virtual void reserve(std::size_t pairs) = 0;
  virtual void write(int output, int index_type, void* to, bool wait) = 0;
  virtual void write_padded(int output, int index_type, std::size_t capacity, void* to, bool wait) = 0;
};

namespace quadrat::c {

using neighbor_list_handle = std::unique_ptr<quadrat_neighbor_list>;
neighbor_list_handle make_list(const cpu_context& context, const quadrat_neighbor_options& options);
neighbor_list_handle make_list(const cuda_context& context, const quadrat_neighbor_options& options);

namespace {

/// Pairs of points on the host as rows of a list.
struct pair_rows {
  std::vector<std::uint64_t> offsets;
  std::vector<particle_id> others;
};

[[nodiscard]] pair_rows rows_of(const std::uint32_t* pairs, std::size_t count, std::size_t points) {
  pair_rows result{std::vector<std::uint64_t>(points + 1, 0), std::vector<particle_id>(count)};
  for (std::size_t p = 0; p < count; ++p) {
    const std::uint32_t a = pairs[2 * p], b = pairs[2 * p + 1];
    require(a < points && b < points, "excluded[", p, "] is (", a, ", ", b, "); there are ", points, " points");
    ++result.offsets[a + 1];
  }
  for (std::size_t i = 0; i < points; ++i) result.offsets[i + 1] += result.offsets[i];
  std::vector<std::uint64_t> next(result.offsets.begin(), result.offsets.end() - 1);
  for (std::size_t p = 0; p < count; ++p) result.others[next[pairs[2 * p]]++] = pairs[2 * p + 1];
  return result;
}

/// Index: of an element of an array by entry. Elements of no pair are `unused`, and so are numbers of points that are
/// not below it: after a fault there may be any.
template <typename From, typename To>
struct padded {
  const From* from;
  To* to;
  const std::uint64_t* entries;  ///< those that there would be
  std::uint64_t room;            ///< for entries
  std::size_t components;        ///< of an entry
  To unused;
  QUADRAT_HD void operator()(std::size_t i) const {
    const bool listed = *entries <= room && i < *entries * components;
    if constexpr (std::is_same_v<From, particle_id>) {
      to[i] = listed && from[i] < static_cast<std::uint64_t>(unused) ? static_cast<To>(from[i]) : unused;
    } else {
      to[i] = listed ? static_cast<To>(from[i]) : unused;
    }
  }
};

template <typename T>
[[nodiscard]] neighbor_options<T> options_of(const quadrat_neighbor_options& given) {
  const auto wanted = [&](int output) { return (given.outputs & output) != 0; };
  require(given.outputs >= 0 && given.outputs < 2 * QUADRAT_NEIGHBOR_DISTANCES, "outputs is ", given.outputs,
          "; sums of values of quadrat_neighbor_output are accepted");
  neighbor_options<T> result;
  result.cutoff = static_cast<T>(given.cutoff);
  result.skin = static_cast<T>(given.skin);
  result.rule = numbered(given.rule, cutoff_rule::table_of_types, "rule");
  require(given.types <= 65535, "there are ", given.types, " types; at most 65535 are accepted");
  require_given(given.type_cutoffs, given.types * given.types, "type_cutoffs");
  for (std::size_t k = 0; k < given.types * given.types; ++k) {
    result.type_cutoffs.push_back(static_cast<T>(given.type_cutoffs[k]));
  }
  result.pairs = given.half != 0 ? neighbor_pairs::half : neighbor_pairs::full;
  result.layout = wanted(QUADRAT_NEIGHBOR_FIRST) ? neighbor_layout::pairs : neighbor_layout::csr;
  result.sorted = given.sorted != 0;
  result.shifts = wanted(QUADRAT_NEIGHBOR_SHIFTS);
  result.vectors = wanted(QUADRAT_NEIGHBOR_VECTORS);
  result.squared_distances = wanted(QUADRAT_NEIGHBOR_SQUARED_DISTANCES) || wanted(QUADRAT_NEIGHBOR_DISTANCES);
  result.accept_outside = given.accept_outside != 0;
  result.method = text_of(given.method);
  if (result.method == "auto") result.method.clear();
  result.autotune = given.autotune != 0;
  return result;
}

template <typename Context, typename T, int D>
class neighbor_list_on final : public quadrat_neighbor_list {
 public:
  neighbor_list_on(const Context& context, const quadrat_neighbor_options& options)
      : context_(context),
        outputs_(options.outputs | QUADRAT_NEIGHBOR_OFFSETS | QUADRAT_NEIGHBOR_INDICES),
        list_(context, options_of<T>(options)) {
    if ((outputs_ & QUADRAT_NEIGHBOR_SQUARED_DISTANCES) != 0) outputs_ |= QUADRAT_NEIGHBOR_DISTANCES;
  }

  bool build(const quadrat_neighbor_input& given, bool update) override {
    const neighbor_input<T, D> input = input_of(given, true);
    bool built = true;
    if (update) {
      built = list_.update(input);
    } else {
      list_.build(input);
    }
    context_.synchronize();  // the caller may free or change the arrays from here on
    return built;
  }
  void build_async(const quadrat_neighbor_input& given) override { list_.build_async(input_of(given, false)); }
  void reserve(std::size_t pairs) override { list_.reserve(pairs); }
  void check() override { list_.check(); }

  [[nodiscard]] quadrat_neighbor_view view() override {
    const neighbor_list_view<T, D> found = list_.view();
    quadrat_neighbor_view result{};
    result.rows = found.rows;
    result.entries = list_.size();
    result.offsets = found.offsets;
    result.neighbors = found.neighbors;
    result.first = found.first;
    result.shifts = components_of(found.shifts);
    result.squared_distances = found.squared_distances;
    result.vectors = found.vectors;
    return result;
  }

  void write(int output, int index_type, void* to, bool wait) override {
    require_requested(output);
    const neighbor_list_view<T, D> found = list_.view();
    const auto count = static_cast<std::size_t>(list_.size());
    write_array(output, found, count, index_type, to);
    if (wait) context_.synchronize();
  }
  void write_padded(int output, int index_type, std::size_t capacity, void* to, bool wait) override {
    require_requested(output);
    const neighbor_list_view<T, D> found = list_.view();
    require(capacity >= found.capacity && capacity <= max_count, "the capacity is ", capacity,
            "; the list has room for ", found.capacity, " pairs, and at most ", max_count, " are accepted");
    pad_array(output, found, index_type, capacity, to);
    if (wait) context_.synchronize();
  }
  [[nodiscard]] quadrat_info info() override { return info_of(list_); }

 private:
  void require_requested(int output) const {
    require((outputs_ & output) != 0, "output is ", output, ", which the options did not request");
  }
  void pad_array(int output, const neighbor_list_view<T, D>& found, int index_type, std::size_t capacity, void* to) {
    const auto write = [&](const auto* from, std::size_t components, auto unused) {
      using From = std::remove_cvref_t<decltype(*from)>;
      using To = decltype(unused);
      To* const results = results_in<To>(context_, to, capacity * components, "to");
      for_each(context_, "c.padded", capacity * components,
               padded<From, To>{from, results, found.offsets + found.rows, found.capacity, components, unused});
    };
    const auto indices = [&](const auto* from, std::size_t components, std::size_t unused) {
      with_index_type(index_type, [&](auto type) { write(from, components, static_cast<decltype(type)>(unused)); });
    };
    switch (output) {
      case QUADRAT_NEIGHBOR_INDICES:
        return indices(found.neighbors, 1, points_);
      case QUADRAT_NEIGHBOR_FIRST:
        return indices(found.first, 1, found.rows);
      case QUADRAT_NEIGHBOR_SHIFTS:
        return indices(components_of(found.shifts), D, 0);
      case QUADRAT_NEIGHBOR_SQUARED_DISTANCES:
        return write(found.squared_distances, 1, list_.options().cutoff * list_.options().cutoff);
      case QUADRAT_NEIGHBOR_DISTANCES:
        write(found.squared_distances, 1, list_.options().cutoff * list_.options().cutoff);
        return write_roots(context_, static_cast<const T*>(to), capacity, to);
      case QUADRAT_NEIGHBOR_VECTORS:
        return write(reinterpret_cast<const T*>(found.vectors), D, T(0));
      default:
        throw argument_error(message("output is ", output, "; one that has entries is needed"));
    }
  }
  void write_array(int output, const neighbor_list_view<T, D>& found, std::size_t count, int index_type, void* to) {
    switch (output) {
      case QUADRAT_NEIGHBOR_OFFSETS:
        require(index_type != QUADRAT_INT32 || count <= max_count, "the list has ", count,
                " entries, too many for offsets of QUADRAT_INT32");
        return write_integers(context_, found.offsets, found.rows + 1, index_type, to);
      case QUADRAT_NEIGHBOR_INDICES:
        return write_integers(context_, found.neighbors, count, index_type, to);
      case QUADRAT_NEIGHBOR_FIRST:
        return write_integers(context_, found.first, count, index_type, to);
      case QUADRAT_NEIGHBOR_SHIFTS:
        return write_integers(context_, components_of(found.shifts), count * D, index_type, to);
      case QUADRAT_NEIGHBOR_SQUARED_DISTANCES:
        return write_numbers(context_, found.squared_distances, count, to);
      case QUADRAT_NEIGHBOR_DISTANCES:
        return write_roots(context_, found.squared_distances, count, to);
      case QUADRAT_NEIGHBOR_VECTORS:
        return write_numbers(context_, found.vectors, count, to);
      default:
        throw argument_error(message("output is ", output, "; one value of quadrat_neighbor_output is needed"));
    }
  }

  [[nodiscard]] neighbor_input<T, D> input_of(const quadrat_neighbor_input& given, bool wait) {
    const std::size_t count = given.points.count;
    points_ = count;
    boxes_ = lattices_of<T, D>(given.boxes, "boxes");
    neighbor_input<T, D> input;
    input.points = points_in<T, D>(context_, given.points);
    input.boxes = boxes_;
    input.system_of_point = systems_.of(context_, given.system_of_point, count, "systems", wait);
    input.radii = optional_array<T>(context_, given.radii, "radii");
    input.types = types_.of(context_, given.types, count, "types", wait);
    if (given.queries != nullptr) {
      const std::size_t rows = given.queries->count;
      input.queries = points_at<T, D>(context_, given.queries, "queries");
      input.system_of_query = query_systems_.of(context_, given.system_of_query, rows, "systems_of_queries", wait);
      input.radii_of_queries = optional_array<T>(context_, given.radii_of_queries, "radii_of_queries");
      input.types_of_queries = query_types_.of(context_, given.types_of_queries, rows, "types_of_queries", wait);
    }
    exclude(given, wait, input);
    return input;
  }
  void exclude(const quadrat_neighbor_input& given, bool wait, neighbor_input<T, D>& input) {
    if (given.excluded_count == 0) return;
    require(wait, "excluded pairs are given to a call that does not wait");
    require_array(given.excluded, given.excluded_count, "excluded");
    const pair_rows rows = rows_of(given.excluded, given.excluded_count, given.points.count);
    excluded_offsets_ = to_device(context_, rows.offsets);
    excluded_ = to_device(context_, rows.others);
    input.excluded_offsets = excluded_offsets_.data();
    input.excluded = excluded_.data();
  }

  Context context_;
  int outputs_;
  std::size_t points_ = 0;
  std::vector<lattice<T, D>> boxes_;
  index_array<Context> systems_, query_systems_, types_, query_types_;
  array<std::uint64_t, Context> excluded_offsets_;
  array<particle_id, Context> excluded_;
  neighbor_list<Context, T, D> list_;
};

}  // namespace

neighbor_list_handle make_list(const backend_context& context, const quadrat_neighbor_options& options) {
  return with_instance<2>(options.type, options.dimension, [&](auto t, auto d) -> neighbor_list_handle {
    return std::make_unique<neighbor_list_on<backend_context, decltype(t), d.value>>(context, options);
  });
}

}  // namespace quadrat::c

#if QUADRAT_BACKEND_CPU

namespace quadrat::c {

static quadrat_neighbor_input neighbor_input_taken(const quadrat_neighbor_input* input) {
  return taken(input, offsetof(quadrat_neighbor_input, system_of_point), "input");
}

extern "C" {

int quadrat_neighbor_list_create(quadrat_context* context, const quadrat_neighbor_options* options,
                                 quadrat_neighbor_list** list) {
  return create(context, list, [&](const auto& backend) {
    return make_list(backend, taken(options, offsetof(quadrat_neighbor_options, skin), "options"));
  });
}
void quadrat_neighbor_list_destroy(quadrat_neighbor_list* list) { destroy(list); }
int quadrat_neighbor_list_build(quadrat_neighbor_list* list, const quadrat_neighbor_input* input) {
  return with(list, [&](auto& one) { one.build(neighbor_input_taken(input), false); });
}
int quadrat_neighbor_list_build_async(quadrat_neighbor_list* list, const quadrat_neighbor_input* input) {
  return with(list, [&](auto& one) { one.build_async(neighbor_input_taken(input)); });
}
int quadrat_neighbor_list_update(quadrat_neighbor_list* list, const quadrat_neighbor_input* input, int* rebuilt) {
  return with(list, [&](auto& one) {
    const bool built = one.build(neighbor_input_taken(input), true);
    if (rebuilt != nullptr) *rebuilt = built ? 1 : 0;
  });
}
int quadrat_neighbor_list_reserve(quadrat_neighbor_list* list, size_t pairs) {
  return with(list, [&](auto& one) { one.reserve(pairs); });
}
int quadrat_neighbor_list_check(quadrat_neighbor_list* list) {
  return with(list, [](auto& one) { one.check(); });
}
int quadrat_neighbor_list_view(quadrat_neighbor_list* list, quadrat_neighbor_view* view) {
  return with(list, [&](auto& one) { give(one.view(), view, "view"); });
}
int quadrat_neighbor_list_write(quadrat_neighbor_list* list, int output, int index_type, void* to) {
  return with(list, [&](auto& one) { one.write(output, index_type, to, true); });
}
int quadrat_neighbor_list_write_async(quadrat_neighbor_list* list, int output, int index_type, void* to) {
  return with(list, [&](auto& one) { one.write(output, index_type, to, false); });
}
int quadrat_neighbor_list_write_padded(quadrat_neighbor_list* list, int output, int index_type, size_t capacity,
                                       void* to) {
  return with(list, [&](auto& one) { one.write_padded(output, index_type, capacity, to, true); });
}
int quadrat_neighbor_list_write_padded_async(quadrat_neighbor_list* list, int output, int index_type, size_t capacity,
                                             void* to) {
  return with(list, [&](auto& one) { one.write_padded(output, index_type, capacity, to, false); });
}
int quadrat_neighbor_list_info(quadrat_neighbor_list* list, quadrat_info* to) { return info(list, to); }

}  // extern "C"

}  // namespace quadrat::c

#endif
