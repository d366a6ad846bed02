// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/search/nearest_neighbors.hpp"

#include "c/arrays.hpp"
#include "core/backend.hpp"

struct quadrat_nearest_neighbors : quadrat::c::handle {
  virtual void build(const quadrat_points* points, const quadrat_integers* system_of_point, bool wait) = 0;
  virtual void search(const quadrat_points* queries, const quadrat_integers* system_of_query, bool wait) = 0;
  virtual void check() = 0;
  [[nodiscard]] virtual quadrat_nearest_view view() = 0;
  virtual void write(int output, int index_type, void* to, bool wait) = 0;
};

namespace quadrat::c {

using nearest_neighbors_handle = std::unique_ptr<quadrat_nearest_neighbors>;
nearest_neighbors_handle make_nearest(const cpu_context& context, const quadrat_boxes* boxes,
                                      const quadrat_nearest_options& options);
nearest_neighbors_handle make_nearest(const cuda_context& context, const quadrat_boxes* boxes,
                                      const quadrat_nearest_options& options);

namespace {

template <typename T>
[[nodiscard]] nearest_options<T> nearest_options_of(const quadrat_nearest_options& given) {
  nearest_options<T> result;
  result.k = given.k;
  if (is_given(given.cutoff)) result.cutoff = static_cast<T>(given.cutoff);
  result.include_self = given.include_self != 0;
  result.shifts = given.shifts != 0;
  return result;
}

template <typename Context, typename T, int D>
class nearest_neighbors_on final : public quadrat_nearest_neighbors {
 public:
  nearest_neighbors_on(const Context& context, const quadrat_boxes* boxes, const quadrat_nearest_options& options)
      : context_(context), search_(search_in(context, lattices_at<T, D>(boxes), options)) {}

  void build(const quadrat_points* points, const quadrat_integers* system_of_point, bool wait) override {
    const auto places = points_at<T, D>(context_, points);
    const std::uint32_t* const numbers = systems_.of(context_, system_of_point, places.count, "systems", wait);
    wait ? search_.build(places, numbers) : search_.build_async(places, numbers);
    if (wait) context_.synchronize();
  }
  void search(const quadrat_points* queries, const quadrat_integers* system_of_query, bool wait) override {
    if (queries == nullptr) {
      wait ? search_.search() : search_.search_async();
    } else {
      const auto places = points_at<T, D>(context_, queries, "queries");
      const std::uint32_t* const numbers =
          query_systems_.of(context_, system_of_query, places.count, "systems_of_queries", wait);
      wait ? search_.search(places, numbers) : search_.search_async(places, numbers);
    }
    if (wait) context_.synchronize();
  }
  void check() override { search_.check(); }

  [[nodiscard]] quadrat_nearest_view view() override {
    const nearest_view<T, D> found = search_.view();
    return {0, found.rows, found.k, found.neighbors, found.squared_distances, components_of(found.shifts)};
  }

  void write(int output, int index_type, void* to, bool wait) override {
    const nearest_view<T, D> found = search_.view();
    const std::size_t count = found.rows * found.k;
    switch (output) {
      case QUADRAT_NEAREST_INDICES:
        write_integers(context_, found.neighbors, count, index_type, to);
        break;
      case QUADRAT_NEAREST_SQUARED_DISTANCES:
        write_numbers(context_, found.squared_distances, count, to);
        break;
      case QUADRAT_NEAREST_DISTANCES:
        write_roots(context_, found.squared_distances, count, to);
        break;
      case QUADRAT_NEAREST_SHIFTS:
        require(search_.options().shifts, "output is QUADRAT_NEAREST_SHIFTS, which the options did not request");
        write_integers(context_, components_of(found.shifts), count * D, index_type, to);
        break;
      default:
        throw argument_error(message("output is ", output, "; a value of quadrat_nearest_output is needed"));
    }
    if (wait) context_.synchronize();
  }
  [[nodiscard]] quadrat_info info() override { return info_of(search_); }

 private:
  using search_type = nearest_neighbors<Context, T, D>;
  [[nodiscard]] static search_type search_in(const Context& context, const std::vector<lattice<T, D>>& boxes,
                                             const quadrat_nearest_options& options) {
    if (options.systems != 0 || boxes.size() > 1) return {context, boxes, nearest_options_of<T>(options)};
    return {context, boxes.front(), nearest_options_of<T>(options)};
  }

  Context context_;
  index_array<Context> systems_, query_systems_;
  search_type search_;
};

}  // namespace

nearest_neighbors_handle make_nearest(const backend_context& context, const quadrat_boxes* boxes,
                                      const quadrat_nearest_options& options) {
  return with_instance<2>(options.type, options.dimension, [&](auto t, auto d) -> nearest_neighbors_handle {
    return std::make_unique<nearest_neighbors_on<backend_context, decltype(t), d.value>>(context, boxes, options);
  });
}

#if QUADRAT_BACKEND_CPU

extern "C" {

int quadrat_nearest_neighbors_create(quadrat_context* context, const quadrat_boxes* boxes,
                                     const quadrat_nearest_options* options, quadrat_nearest_neighbors** nearest) {
  return create(context, nearest, [&](const auto& backend) {
    return make_nearest(backend, boxes, taken(options, offsetof(quadrat_nearest_options, cutoff), "options"));
  });
}
void quadrat_nearest_neighbors_destroy(quadrat_nearest_neighbors* nearest) { destroy(nearest); }
int quadrat_nearest_neighbors_build(quadrat_nearest_neighbors* nearest, const quadrat_points* points,
                                    const quadrat_integers* system_of_point) {
  return with(nearest, [&](auto& one) { one.build(points, system_of_point, true); });
}
int quadrat_nearest_neighbors_build_async(quadrat_nearest_neighbors* nearest, const quadrat_points* points,
                                          const quadrat_integers* system_of_point) {
  return with(nearest, [&](auto& one) { one.build(points, system_of_point, false); });
}
int quadrat_nearest_neighbors_search(quadrat_nearest_neighbors* nearest, const quadrat_points* queries,
                                     const quadrat_integers* system_of_query) {
  return with(nearest, [&](auto& one) { one.search(queries, system_of_query, true); });
}
int quadrat_nearest_neighbors_search_async(quadrat_nearest_neighbors* nearest, const quadrat_points* queries,
                                           const quadrat_integers* system_of_query) {
  return with(nearest, [&](auto& one) { one.search(queries, system_of_query, false); });
}
int quadrat_nearest_neighbors_check(quadrat_nearest_neighbors* nearest) {
  return with(nearest, [](auto& one) { one.check(); });
}
int quadrat_nearest_neighbors_view(quadrat_nearest_neighbors* nearest, quadrat_nearest_view* view) {
  return with(nearest, [&](auto& one) { give(one.view(), view, "view"); });
}
int quadrat_nearest_neighbors_write(quadrat_nearest_neighbors* nearest, int output, int index_type, void* to) {
  return with(nearest, [&](auto& one) { one.write(output, index_type, to, true); });
}
int quadrat_nearest_neighbors_write_async(quadrat_nearest_neighbors* nearest, int output, int index_type, void* to) {
  return with(nearest, [&](auto& one) { one.write(output, index_type, to, false); });
}
int quadrat_nearest_neighbors_info(quadrat_nearest_neighbors* nearest, quadrat_info* to) { return info(nearest, to); }

}  // extern "C"

#endif

}  // namespace quadrat::c
