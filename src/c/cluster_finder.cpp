// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/search/cluster_finder.hpp"

#include "c/arrays.hpp"
#include "core/backend.hpp"

struct quadrat_cluster_finder : quadrat::c::handle {
  virtual void find(const quadrat_points* points, const quadrat_integers* system_of_point, bool wait) = 0;
  virtual void reserve(std::size_t count) = 0;
  virtual void check() = 0;
  [[nodiscard]] virtual quadrat_cluster_view view() = 0;
  [[nodiscard]] virtual quadrat_cluster_members members() = 0;
  [[nodiscard]] virtual quadrat_cluster_catalog catalog(const quadrat_catalog_options& options) = 0;
  virtual void write(int output, int index_type, void* to, bool wait) = 0;
};

namespace quadrat::c {

using cluster_finder_handle = std::unique_ptr<quadrat_cluster_finder>;
cluster_finder_handle make_finder(const cpu_context& context, const quadrat_boxes* boxes,
                                  const quadrat_cluster_options& options);
cluster_finder_handle make_finder(const cuda_context& context, const quadrat_boxes* boxes,
                                  const quadrat_cluster_options& options);

namespace {

template <typename T>
[[nodiscard]] cluster_options<T> cluster_options_of(const quadrat_cluster_options& given) {
  cluster_options<T> result;
  result.cutoff = static_cast<T>(given.cutoff);
  result.min_points = or_default(given.min_points, result.min_points);
  result.accept_outside = given.accept_outside != 0;
  return result;
}

template <typename Context, typename T, int D>
class cluster_finder_on final : public quadrat_cluster_finder {
 public:
  cluster_finder_on(const Context& context, const quadrat_boxes* boxes, const quadrat_cluster_options& options)
      : context_(context), finder_(context, lattices_at<T, D>(boxes), cluster_options_of<T>(options)) {}

  void find(const quadrat_points* points, const quadrat_integers* system_of_point, bool wait) override {
    const auto places = points_at<T, D>(context_, points);
    const std::uint32_t* const numbers = systems_.of(context_, system_of_point, places.count, "systems", wait);
    members_.reset();
    catalog_.reset();
    wait ? finder_.find(places, numbers) : finder_.find_async(places, numbers);
    if (wait) context_.synchronize();
  }
  void reserve(std::size_t count) override { finder_.reserve(count); }
  void check() override { finder_.check(); }
  [[nodiscard]] quadrat_cluster_view view() override {
    const cluster_view found = finder_.view();
    return {0, found.points, found.clusters, found.labels, found.sizes};
  }
  [[nodiscard]] quadrat_cluster_members members() override {
    const quadrat::cluster_members found = finder_.members();
    if (!members_) members_ = to_host(context_, found.offsets + found.clusters, 1)[0];
    return {0, found.clusters, *members_, found.offsets, found.points, finder_.centers()};
  }
  [[nodiscard]] quadrat_cluster_catalog catalog(const quadrat_catalog_options& given) override {
    cluster_catalog_options<T, D> options;
    options.least_size = given.least_size;
    options.by_size = given.by_size != 0;
    options.velocities = points_in<T, D>(context_, given.velocities, "velocities");
    options.potentials = optional_array<T>(context_, given.potentials, "potentials");
    options.densities = optional_array<T>(context_, given.densities, "densities");
    catalog_.reset();
    catalog_ = finder_.catalog(options);
    return {0, catalog_->count, sizeof(cluster_group<T, D>), catalog_->groups, catalog_->points, catalog_->rows};
  }
  void write(int output, int index_type, void* to, bool wait) override {
    if (output == QUADRAT_CLUSTER_ROWS) {
      require(catalog_.has_value(), "there is no catalog; call quadrat_cluster_finder_catalog first");
      write_integers(context_, catalog_->rows, catalog_->points, index_type, to);
    } else if (output == QUADRAT_CLUSTER_LABELS || output == QUADRAT_CLUSTER_SIZES) {
      write_found(output, index_type, to);
    } else {
      write_members(output, index_type, to);
    }
    if (wait) context_.synchronize();
  }
  [[nodiscard]] quadrat_info info() override { return info_of(finder_); }

 private:
  void write_found(int output, int index_type, void* to) {
    const cluster_view found = finder_.view();
    if (output == QUADRAT_CLUSTER_LABELS) return write_integers(context_, found.labels, found.points, index_type, to);
    write_integers(context_, found.sizes, found.clusters, index_type, to);
  }
  void write_members(int output, int index_type, void* to) {
    const quadrat_cluster_members found = members();
    switch (output) {
      case QUADRAT_CLUSTER_OFFSETS:
        return write_integers(context_, found.offsets, found.clusters + 1, index_type, to);
      case QUADRAT_CLUSTER_MEMBERS:
        return write_integers(context_, found.points, found.members, index_type, to);
      case QUADRAT_CLUSTER_CENTERS:
        return write_numbers(context_, static_cast<const vec<T, D>*>(found.centers), found.clusters, to);
      default:
        throw argument_error(message("output is ", output, "; a value of quadrat_cluster_output is needed"));
    }
  }

  Context context_;
  index_array<Context> systems_;
  cluster_finder<Context, T, D> finder_;
  std::optional<std::size_t> members_;  ///< of all clusters; none: not counted yet
  std::optional<cluster_catalog<T, D>> catalog_;
};

}  // namespace

cluster_finder_handle make_finder(const backend_context& context, const quadrat_boxes* boxes,
                                  const quadrat_cluster_options& options) {
  return with_instance<2>(options.type, options.dimension, [&](auto t, auto d) -> cluster_finder_handle {
    return std::make_unique<cluster_finder_on<backend_context, decltype(t), d.value>>(context, boxes, options);
  });
}

#if QUADRAT_BACKEND_CPU

extern "C" {

int quadrat_cluster_finder_create(quadrat_context* context, const quadrat_boxes* boxes,
                                  const quadrat_cluster_options* options, quadrat_cluster_finder** finder) {
  return create(context, finder, [&](const auto& backend) {
    return make_finder(backend, boxes, taken(options, offsetof(quadrat_cluster_options, min_points), "options"));
  });
}
void quadrat_cluster_finder_destroy(quadrat_cluster_finder* finder) { destroy(finder); }
int quadrat_cluster_finder_find(quadrat_cluster_finder* finder, const quadrat_points* points,
                                const quadrat_integers* system_of_point) {
  return with(finder, [&](auto& one) { one.find(points, system_of_point, true); });
}
int quadrat_cluster_finder_find_async(quadrat_cluster_finder* finder, const quadrat_points* points,
                                      const quadrat_integers* system_of_point) {
  return with(finder, [&](auto& one) { one.find(points, system_of_point, false); });
}
int quadrat_cluster_finder_reserve(quadrat_cluster_finder* finder, size_t count) {
  return with(finder, [&](auto& one) { one.reserve(count); });
}
int quadrat_cluster_finder_check(quadrat_cluster_finder* finder) {
  return with(finder, [](auto& one) { one.check(); });
}
int quadrat_cluster_finder_view(quadrat_cluster_finder* finder, quadrat_cluster_view* view) {
  return with(finder, [&](auto& one) { give(one.view(), view, "view"); });
}
int quadrat_cluster_finder_members(quadrat_cluster_finder* finder, quadrat_cluster_members* members) {
  return with(finder, [&](auto& one) { give(one.members(), members, "members"); });
}
int quadrat_cluster_finder_catalog(quadrat_cluster_finder* finder, const quadrat_catalog_options* options,
                                   quadrat_cluster_catalog* catalog) {
  return with(finder, [&](auto& one) { give(one.catalog(taken_or_default(options, "options")), catalog, "catalog"); });
}
int quadrat_cluster_finder_write(quadrat_cluster_finder* finder, int output, int index_type, void* to) {
  return with(finder, [&](auto& one) { one.write(output, index_type, to, true); });
}
int quadrat_cluster_finder_write_async(quadrat_cluster_finder* finder, int output, int index_type, void* to) {
  return with(finder, [&](auto& one) { one.write(output, index_type, to, false); });
}
int quadrat_cluster_finder_info(quadrat_cluster_finder* finder, quadrat_info* to) { return info(finder, to); }

}  // extern "C"

#endif

}  // namespace quadrat::c
