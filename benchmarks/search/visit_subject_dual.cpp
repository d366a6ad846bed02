// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>
#include <memory>
#include <span>

#include "core/backend.hpp"
#include "models/circles/force.hpp"
#include "models/wide_access.hpp"
#include "quadrat/cells/methods.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/search/neighborhood.hpp"
#include "quadrat/search/orders.hpp"
#include "quadrat/search/visit_points.hpp"
#include "search/visit_subject.hpp"

namespace quadrat::bench {

namespace {

using slot_record = detail::agent_record<float, 3>;

/// A functor as users write it: one visitor for any cell list.
template <typename Order, typename View>
struct count_by_index {
  View view;
  points_view<float, 3> points;
  float cutoff;
  std::uint32_t* counts;

  QUADRAT_HD void operator()(std::size_t i) const {
    std::uint32_t count = 0;
    for_each_neighbor<Order>(view, points, static_cast<particle_id>(i), cutoff,
                             [&](particle_id, const vec<float, 3>&, float) { ++count; });
    counts[i] = count;
  }
};

template <typename View>
struct bring_into_slots {
  View view;
  points_view<float, 3> points;
  slot_record* slots;

  QUADRAT_HD void operator()(std::size_t slot) const {
    const particle_id id = view.particle(static_cast<std::uint32_t>(slot));
    slots[slot] = {points[id], id};
  }
};

/// The same in an open box over contiguous positions.
template <typename Order, typename View>
struct count_by_slot {
  View view;
  const slot_record* slots;
  float cutoff;
  std::uint32_t* counts;

  QUADRAT_HD void operator()(std::size_t slot) const {
    const slot_record own = detail::read_record(slots, slot);
    const float squared_cutoff = cutoff * cutoff;
    std::uint32_t count = 0;
    for_each_range_in_reach<Order>(view, own.position, cutoff, [&](std::uint32_t first, std::uint32_t last) {
#if defined(__CUDA_ARCH__)
#pragma unroll 4
#endif
      for (std::uint32_t k = first; k < last; ++k) {
        const float squared = squared_norm(detail::read_record(slots, k).position - own.position);
        count += squared < squared_cutoff ? 1u : 0u;
      }
    });
    counts[own.id] = count - 1;  // without the point itself
  }
};

template <typename Context, typename CellList, typename Order>
class visit_by_index final : public visit_subject<Context> {
 public:
  visit_by_index(const Context& context, const grid<float, 3>& space)
      : context_(context), list_(context, space, {.radius = space.edge(0) / 2}) {}

  void count(const points_view<float, 3>& points, float cutoff, std::uint32_t* counts) override {
    list_.reserve(points.count);
    list_.build_async(points);
    using view_type = typename CellList::view_type;
    for_each(context_, "bench: visit", points.count,
             count_by_index<Order, view_type>{list_.view(), points, cutoff, counts});
  }
  void check() override { list_.check(); }
  [[nodiscard]] std::size_t bytes() const override { return list_.bytes(); }

 private:
  Context context_;
  CellList list_;
};

template <typename Context, typename CellList, typename Order>
class visit_by_slot final : public visit_subject<Context> {
 public:
  visit_by_slot(const Context& context, const grid<float, 3>& space) : context_(context), list_(context, space) {}

  void count(const points_view<float, 3>& points, float cutoff, std::uint32_t* counts) override {
    using view_type = typename CellList::view_type;
    slots_.resize_discarding(context_, points.count);
    list_.reserve(points.count);
    list_.build_async(points);
    for_each(context_, "bench: into slots", points.count,
             bring_into_slots<view_type>{list_.view(), points, slots_.data()});
    for_each(context_, "bench: visit", points.count,
             count_by_slot<Order, view_type>{list_.view(), slots_.data(), cutoff, counts});
  }
  void check() override { list_.check(); }
  [[nodiscard]] std::size_t bytes() const override { return list_.bytes() + slots_.bytes(); }

 private:
  Context context_;
  CellList list_;
  array<slot_record, Context> slots_;
};

struct count_one {
  QUADRAT_HD std::uint32_t operator()(particle_id, particle_id, const vec<float, 3>&, float) const { return 1; }
};

template <typename Context>
class visit_of_points final : public visit_subject<Context> {
 public:
  visit_of_points(const Context& context, const box<float, 3>& domain) : context_(context), domain_(domain) {}

  void count(const points_view<float, 3>& points, float cutoff, std::uint32_t* counts) override {
    accumulate_neighbors(context_, domain_, points, cutoff, std::span(counts, points.count), count_one{});
  }
  void check() override {}
  [[nodiscard]] bool waits() const override { return true; }
  [[nodiscard]] std::size_t bytes() const override { return 0; }

 private:
  Context context_;
  box<float, 3> domain_;
};

template <typename Order, typename CellMethod, typename Context>
std::unique_ptr<visit_subject<Context>> make_for(visit_storage storage, const Context& context,
                                                 const grid<float, 3>& space) {
  using list_type = typename CellMethod::template type<Context, float, 3>;
  using view_type = typename list_type::view_type;
  if constexpr (walkable<Order, view_type>) {
    if (storage == visit_storage::points)
      return std::make_unique<visit_by_index<Context, list_type, Order>>(context, space);
    if constexpr (contiguous_cells<view_type> && requires(view_type view) { view.buckets.elements; }) {
      return std::make_unique<visit_by_slot<Context, list_type, Order>>(context, space);
    }
  }
  return nullptr;
}

template <typename Order, typename Context>
std::unique_ptr<visit_subject<Context>> make_ordered(std::string_view cell_list, visit_storage storage,
                                                     const Context& context, const grid<float, 3>& space) {
  std::unique_ptr<visit_subject<Context>> result;
  cell_list_methods::with("cell list", cell_list,
                          [&](auto method) { result = make_for<Order, decltype(method)>(storage, context, space); });
  return result;
}

}  // namespace

template <typename Context>
std::unique_ptr<visit_subject<Context>> make_visit_subject(std::string_view order, std::string_view cell_list,
                                                           visit_storage storage, const Context& context,
                                                           const grid<float, 3>& space) {
  std::unique_ptr<visit_subject<Context>> result;
  search_order_list::with("order", order, [&](auto chosen) {
    result = make_ordered<decltype(chosen)>(cell_list, storage, context, space);
  });
  return result;
}

template <typename Context>
std::unique_ptr<visit_subject<Context>> make_visit_of_points(const Context& context, const box<float, 3>& domain) {
  return std::make_unique<visit_of_points<Context>>(context, domain);
}

template std::unique_ptr<visit_subject<backend_context>> make_visit_of_points(const backend_context&,
                                                                              const box<float, 3>&);
template std::unique_ptr<visit_subject<backend_context>> make_visit_subject(std::string_view, std::string_view,
                                                                            visit_storage, const backend_context&,
                                                                            const grid<float, 3>&);

}  // namespace quadrat::bench
