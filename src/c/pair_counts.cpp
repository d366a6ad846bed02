// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/search/pair_counts.hpp"

#include <string>
#include <vector>

#include "c/arrays.hpp"
#include "core/backend.hpp"

struct quadrat_pair_counts : quadrat::c::handle {
  virtual void count(const quadrat_points* points, const void* weights, const quadrat_integers* regions) = 0;
  virtual void count_between(const quadrat_points* points, const quadrat_points* others, const void* weights,
                             const void* other_weights, const quadrat_integers* regions,
                             const quadrat_integers* other_regions) = 0;
  [[nodiscard]] virtual quadrat_pair_counts_view view() = 0;
};

namespace quadrat::c {

using pair_counts_handle = std::unique_ptr<quadrat_pair_counts>;
pair_counts_handle make_pair_counts(const cpu_context& context, const quadrat_boxes* box,
                                    const quadrat_pair_counts_options& options);
pair_counts_handle make_pair_counts(const cuda_context& context, const quadrat_boxes* box,
                                    const quadrat_pair_counts_options& options);

namespace {

[[nodiscard]] std::vector<double> edges_of(const double* edges, std::size_t count, const char* name) {
  require_array(edges, count, name);
  return {edges, edges + count};
}

[[nodiscard]] pair_counts_options counts_options_of(const quadrat_pair_counts_options& given) {
  require(given.coordinates >= QUADRAT_PAIR_R && given.coordinates <= QUADRAT_PAIR_THETA, "coordinates are ",
          given.coordinates, "; QUADRAT_PAIR_R (0) to QUADRAT_PAIR_THETA (3) are accepted");
  pair_counts_options result;
  result.coordinates = static_cast<pair_coordinates>(given.coordinates);
  result.edges = edges_of(given.edges, given.edge_count, "edges");
  result.second_edges = edges_of(given.second_edges, given.second_edge_count, "second_edges");
  result.mean_separation = given.mean_separation != 0;
  result.accept_outside = given.accept_outside != 0;
  result.regions = given.regions;
  return result;
}

template <typename Context, typename T>
[[nodiscard]] pair_counts<Context, T, 3> counter_of(const Context& context, const quadrat_boxes* box,
                                                    const pair_counts_options& options) {
  if (box == nullptr) return {context, options};
  const std::vector<lattice<T, 3>> boxes = lattices_at<T, 3>(box);
  require(boxes.size() == 1, "there are ", boxes.size(), " boxes; one is needed");
  return {context, boxes.front(), options};
}

template <typename Context, typename T>
class pair_counts_on final : public quadrat_pair_counts {
 public:
  pair_counts_on(const Context& context, const quadrat_boxes* box, const quadrat_pair_counts_options& options)
      : context_(context), counter_(counter_of<Context, T>(context, box, counts_options_of(options))) {}

  void count(const quadrat_points* points, const void* weights, const quadrat_integers* regions) override {
    const auto places = points_at<T, 3>(context_, points);
    found_ = counter_.count(places, optional_array<T>(context_, weights, "weights"),
                            regions_.of(context_, regions, places.count, "regions"));
  }
  void count_between(const quadrat_points* points, const quadrat_points* others, const void* weights,
                     const void* other_weights, const quadrat_integers* regions,
                     const quadrat_integers* other_regions) override {
    const auto places = points_at<T, 3>(context_, points), other_places = points_at<T, 3>(context_, others, "others");
    found_ = counter_.count_between(places, other_places, optional_array<T>(context_, weights, "weights"),
                                    optional_array<T>(context_, other_weights, "other_weights"),
                                    regions_.of(context_, regions, places.count, "regions"),
                                    other_regions_.of(context_, other_regions, other_places.count, "other_regions"));
  }
  [[nodiscard]] quadrat_pair_counts_view view() override {
    return {0,
            found_.counts.size(),
            found_.counts.data(),
            given(found_.weights),
            given(found_.mean_separations),
            given(found_.region_counts),
            given(found_.region_weights)};
  }
  [[nodiscard]] quadrat_info info() override { return info_of(counter_); }

 private:
  template <typename Value>
  [[nodiscard]] static const Value* given(const std::vector<Value>& values) {
    return values.empty() ? nullptr : values.data();
  }

  Context context_;
  pair_counts<Context, T, 3> counter_;
  index_array<Context> regions_, other_regions_;
  pair_counts_result found_;
};

}  // namespace

pair_counts_handle make_pair_counts(const backend_context& context, const quadrat_boxes* box,
                                    const quadrat_pair_counts_options& options) {
  return with_number_type(options.type, [&](auto t) -> pair_counts_handle {
    return std::make_unique<pair_counts_on<backend_context, decltype(t)>>(context, box, options);
  });
}

#if QUADRAT_BACKEND_CPU

extern "C" {

int quadrat_pair_counts_create(quadrat_context* context, const quadrat_boxes* box,
                               const quadrat_pair_counts_options* options, quadrat_pair_counts** counts) {
  return create(context, counts, [&](const auto& backend) {
    return make_pair_counts(backend, box,
                            taken(options, offsetof(quadrat_pair_counts_options, second_edges), "options"));
  });
}
void quadrat_pair_counts_destroy(quadrat_pair_counts* counts) { destroy(counts); }
int quadrat_pair_counts_count(quadrat_pair_counts* counts, const quadrat_points* points, const void* weights,
                              const quadrat_integers* regions) {
  return with(counts, [&](auto& one) { one.count(points, weights, regions); });
}
int quadrat_pair_counts_count_between(quadrat_pair_counts* counts, const quadrat_points* points,
                                      const quadrat_points* others, const void* weights, const void* other_weights,
                                      const quadrat_integers* regions, const quadrat_integers* other_regions) {
  return with(counts,
              [&](auto& one) { one.count_between(points, others, weights, other_weights, regions, other_regions); });
}
int quadrat_pair_counts_result(quadrat_pair_counts* counts, quadrat_pair_counts_view* view) {
  return with(counts, [&](auto& one) { give(one.view(), view, "view"); });
}
int quadrat_pair_counts_info(quadrat_pair_counts* counts, quadrat_info* to) { return info(counts, to); }

}  // extern "C"

#endif

}  // namespace quadrat::c
