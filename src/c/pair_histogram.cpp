// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/search/pair_histogram.hpp"

#include <algorithm>
#include <limits>

#include "c/arrays.hpp"
#include "core/backend.hpp"

struct quadrat_pair_histogram : quadrat::c::handle {
  virtual void add(const quadrat_points* points, const quadrat_boxes* boxes, const quadrat_integers* system_of_point,
                   const quadrat_integers* types) = 0;
  [[nodiscard]] virtual quadrat_histogram_view view() = 0;
  virtual void clear() = 0;
};

namespace quadrat::c {

using pair_histogram_handle = std::unique_ptr<quadrat_pair_histogram>;
pair_histogram_handle make_histogram(const cpu_context& context, const quadrat_histogram_options& options);
pair_histogram_handle make_histogram(const cuda_context& context, const quadrat_histogram_options& options);

namespace {

template <typename T>
[[nodiscard]] pair_histogram_options<T> histogram_options_of(const quadrat_histogram_options& given) {
  pair_histogram_options<T> result;
  result.cutoff = static_cast<T>(given.cutoff);
  result.bins = or_default<std::size_t>(given.bins, result.bins);
  result.types = or_default(given.types, result.types);
  result.accept_outside = given.accept_outside != 0;
  result.distinct = given.distinct != 0;
  return result;
}

/// A coordinate; `none` for one that is not finite, which is complained about where pairs are counted.
template <typename T>
struct finite_component {
  const T* first;
  std::size_t stride;
  T none;
  QUADRAT_HD T operator()(std::size_t i) const {
    const T value = first[i * stride];
    return value - value == T(0) ? value : none;
  }
};

template <typename Context, typename T, int D>
class pair_histogram_on final : public quadrat_pair_histogram {
 public:
  pair_histogram_on(const Context& context, const quadrat_histogram_options& options)
      : context_(context), histogram_(context, histogram_options_of<T>(options)) {}

  void add(const quadrat_points* points, const quadrat_boxes* boxes, const quadrat_integers* system_of_point,
           const quadrat_integers* types) override {
    const auto places = points_at<T, D>(context_, points);
    const std::uint32_t* const systems = systems_.of(context_, system_of_point, places.count, "systems");
    require(boxes != nullptr || systems == nullptr, "there are systems, but no box; the density in each is needed");
    const std::uint32_t* const numbers = types_.of(context_, types, places.count, "types");
    histogram_.add(places, boxes == nullptr ? std::vector{box_around(places)} : lattices_at<T, D>(boxes), systems,
                   numbers);
    context_.synchronize();
  }
  [[nodiscard]] quadrat_histogram_view view() override {
    found_ = histogram_.result();
    return {0,
            found_.frames,
            found_.bins,
            found_.rdf.size() / found_.bins,
            found_.width,
            found_.counts.data(),
            found_.rdf.data()};
  }
  void clear() override { histogram_.clear(); }
  [[nodiscard]] quadrat_info info() override { return info_of(histogram_); }

 private:
  /// The open box that just holds the points; along an axis where they are all in one place it is as long as the
  /// cutoff.
  [[nodiscard]] lattice<T, D> box_around(const points_view<T, D>& points) {
    vec<T, D> low{}, length{};
    for (int axis = 0; axis < D; ++axis) {
      const T first = extreme<minimum_operation>(points, axis), last = extreme<maximum_operation>(points, axis);
      low[axis] = first > last ? T(0) : first;
      length[axis] = std::max(first > last ? T(0) : last - first, histogram_.options().cutoff);
    }
    return make_lattice(make_box(low, low + length, vec<bool, D>{}));
  }
  template <typename Operation>
  [[nodiscard]] T extreme(const points_view<T, D>& points, int axis) {
    const T none = std::is_same_v<Operation, minimum_operation> ? infinity : -infinity;
    const finite_component<T> map{points.component[axis], points.stride, none};
    return reduce(context_, "c.extent", points.count, map, Operation{}, none, scratch_);
  }

  static constexpr T infinity = std::numeric_limits<T>::infinity();
  Context context_;
  workspace<Context> scratch_;
  index_array<Context> systems_, types_;
  pair_histogram<Context, T, D> histogram_;
  pair_histogram_result found_;
};

}  // namespace

pair_histogram_handle make_histogram(const backend_context& context, const quadrat_histogram_options& options) {
  return with_instance<2>(options.type, options.dimension, [&](auto t, auto d) -> pair_histogram_handle {
    return std::make_unique<pair_histogram_on<backend_context, decltype(t), d.value>>(context, options);
  });
}

#if QUADRAT_BACKEND_CPU

extern "C" {

int quadrat_pair_histogram_create(quadrat_context* context, const quadrat_histogram_options* options,
                                  quadrat_pair_histogram** histogram) {
  return create(context, histogram, [&](const auto& backend) {
    return make_histogram(backend, taken(options, offsetof(quadrat_histogram_options, bins), "options"));
  });
}
void quadrat_pair_histogram_destroy(quadrat_pair_histogram* histogram) { destroy(histogram); }
int quadrat_pair_histogram_add(quadrat_pair_histogram* histogram, const quadrat_points* points,
                               const quadrat_boxes* boxes, const quadrat_integers* system_of_point,
                               const quadrat_integers* types) {
  return with(histogram, [&](auto& one) { one.add(points, boxes, system_of_point, types); });
}
int quadrat_pair_histogram_view(quadrat_pair_histogram* histogram, quadrat_histogram_view* view) {
  return with(histogram, [&](auto& one) { give(one.view(), view, "view"); });
}
int quadrat_pair_histogram_clear(quadrat_pair_histogram* histogram) {
  return with(histogram, [](auto& one) { one.clear(); });
}
int quadrat_pair_histogram_info(quadrat_pair_histogram* histogram, quadrat_info* to) { return info(histogram, to); }

}  // extern "C"

#endif

}  // namespace quadrat::c
