// SPDX-License-Identifier: BSD-3-Clause
#include <optional>

#include "indices.hpp"
#include "instances.hpp"
#include "quadrat/cells/make_cells.hpp"
#include "quadrat/contacts/contact_detector.hpp"
#include "worker.hpp"

namespace quadrat::python {

namespace {

template <typename T, int D>
[[nodiscard]] box<T, D> box_of(const domain_given& domain) {
  box<T, D> result{};
  for (int axis = 0; axis < D; ++axis) {
    const auto a = static_cast<std::size_t>(axis);
    result.lower[axis] = static_cast<T>(domain.lower[a]);
    result.length[axis] = static_cast<T>(domain.length[a]);
    result.periodic[axis] = domain.periodic[a] != 0;
  }
  return result;
}

/// Numbers that are no shape become one that the library refuses.
struct as_shape {
  const std::uint32_t* from;
  body_shape* to;
  QUADRAT_HD void operator()(std::size_t i) const { to[i] = static_cast<body_shape>(from[i] < 255 ? from[i] : 255); }
};

/// A field of all records, `stride` bytes apart from the first one on.
template <typename From, typename To>
struct field_of {
  const unsigned char* first;
  std::size_t stride;
  To* to;
  QUADRAT_HD void operator()(std::size_t i) const {
    to[i] = static_cast<To>(*reinterpret_cast<const From*>(first + i * stride));
  }
};

/// Three integers of all records.
template <typename To>
struct integers_of {
  const unsigned char* first;
  std::size_t stride;
  To* to;
  QUADRAT_HD void operator()(std::size_t i) const {
    const auto& from = *reinterpret_cast<const vec<int, 3>*>(first + i * stride);
    for (int axis = 0; axis < 3; ++axis) to[3 * i + static_cast<std::size_t>(axis)] = static_cast<To>(from[axis]);
  }
};

template <typename Context, typename T>
class contacts_on final : public worker_on<contact_search, Context> {
 public:
  contacts_on(const place& where, const domain_given& domain, const std::string& method, bool sorted, double bin_size)
      : worker_on<contact_search, Context>(where),
        detector_(this->context(), options(domain, method, sorted, bin_size)) {}

  void build(const bodies_given& bodies) override {
    [[maybe_unused]] const auto visit = this->enter();
    const Context& context = this->context();
    bodies_view<T> view;
    view.centers = view_of<T, 3>(bodies.centers);
    view.shape = static_cast<body_shape>(bodies.shape);
    if (const std::uint32_t* const numbers = shape_numbers_.of(context, bodies.shapes)) {
      shapes_.resize_discarding(context, bodies.centers.count);
      for_each(context, "python.shapes", bodies.centers.count, as_shape{numbers, shapes_.data()});
      view.shapes = shapes_.data();
    }
    view.radius = static_cast<T>(bodies.radius);
    view.radii = static_cast<const T*>(bodies.radii);
    view.sizes = static_cast<const vec<T, 3>*>(bodies.sizes);
    view.orientations = static_cast<const quaternion<T>*>(bodies.orientations);
    view.ids = ids_.of(context, bodies.ids);
    std::vector<plane<T>> planes;
    for (std::size_t p = 0; p + 3 < bodies.planes.size(); p += 4) {
      const double* const four = bodies.planes.data() + p;
      planes.push_back(
          {{static_cast<T>(four[0]), static_cast<T>(four[1]), static_cast<T>(four[2])}, static_cast<T>(four[3])});
    }
    view.planes = planes;
    detector_.build(view);
  }
  [[nodiscard]] std::size_t size() const override { return static_cast<std::size_t>(detector_.size()); }
  [[nodiscard]] std::string method() const override { return std::string(detector_.method()); }

  void write(contact_field field, bool long_indices, void* to) override {
    [[maybe_unused]] const auto visit = this->enter();
    if (size() == 0) return;
    const contact<T>* const records = detector_.view().records;
    switch (field) {
      case contact_field::a:
        return write_index(&records->a, long_indices, to);
      case contact_field::b:
        return write_index(&records->b, long_indices, to);
      case contact_field::feature:
        return write_index(&records->feature, long_indices, to);
      case contact_field::shift:
        return write_shifts(&records->shift, long_indices, to);
      case contact_field::depth:
        return each<T, T>(&records->depth, to);
      case contact_field::normal:
        return each<vec<T, 3>, vec<T, 3>>(&records->normal, to);
      case contact_field::point_a:
        return each<vec<T, 3>, vec<T, 3>>(&records->point_a, to);
      case contact_field::point_b:
        return each<vec<T, 3>, vec<T, 3>>(&records->point_b, to);
    }
  }

 private:
  static contact_options<T> options(const domain_given& domain, const std::string& method, bool sorted,
                                    double bin_size) {
    contact_options<T> result;
    result.method = method;
    result.sorted = sorted;
    result.bin_size = static_cast<T>(bin_size);
    if (!domain.length.empty()) result.domain = box_of<T, 3>(domain);
    return result;
  }
  template <typename Field, typename Functor, typename To>
  void run(const Field* first, void* to) {
    for_each(this->context(), "python.contacts", size(),
             Functor{reinterpret_cast<const unsigned char*>(first), sizeof(contact<T>), static_cast<To*>(to)});
  }
  template <typename From, typename To>
  void each(const From* first, void* to) {
    run<From, field_of<From, To>, To>(first, to);
  }
  void write_index(const std::uint32_t* first, bool long_indices, void* to) {
    return long_indices ? each<std::uint32_t, std::int64_t>(first, to) : each<std::uint32_t, std::int32_t>(first, to);
  }
  void write_shifts(const vec<int, 3>* first, bool long_indices, void* to) {
    return long_indices ? run<vec<int, 3>, integers_of<std::int64_t>, std::int64_t>(first, to)
                        : run<vec<int, 3>, integers_of<std::int32_t>, std::int32_t>(first, to);
  }

  index_array<Context> shape_numbers_, ids_;
  array<body_shape, Context> shapes_;
  contact_detector<Context, T> detector_;
};

template <typename Context, typename T, int D>
class cells_on final : public worker_on<cell_search, Context> {
 public:
  cells_on(const place& where, const domain_given& domain, const std::vector<int>& cells, double cutoff,
           bool accept_outside)
      : worker_on<cell_search, Context>(where),
        list_(this->context(), grid_of(domain, cells, cutoff), options(accept_outside)) {}

  void build(const points_given& points) override {
    [[maybe_unused]] const auto visit = this->enter();
    list_.build(view_of<T, D>(points));  // waits: the caller may free or change the points from here on
  }
  [[nodiscard]] std::vector<int> cells() const override {
    const vec<int, D>& extents = list_.space().cells;
    return {extents.component, extents.component + D};
  }
  void write_offsets(bool long_indices, void* to) override {
    [[maybe_unused]] const auto visit = this->enter();
    const counting_buckets_view cells = list_.view().buckets;
    write_indices(this->context(), cells.offsets, cells.bucket_count + 1, long_indices, to);
  }
  void write_points(bool long_indices, void* to) override {
    [[maybe_unused]] const auto visit = this->enter();
    const counting_buckets_view cells = list_.view().buckets;
    write_indices(this->context(), cells.elements, cells.count, long_indices, to);
  }

 private:
  static grid<T, D> grid_of(const domain_given& domain, const std::vector<int>& cells, double cutoff) {
    const box<T, D> space = box_of<T, D>(domain);
    if (cells.empty()) return make_grid_for_cutoff(space, static_cast<T>(cutoff));
    vec<int, D> extents{};
    for (int axis = 0; axis < D; ++axis) extents[axis] = cells[static_cast<std::size_t>(axis)];
    return make_grid(space, extents);
  }
  static cell_list_options<T> options(bool accept_outside) {
    cell_list_options<T> result;
    result.accept_outside = accept_outside;
    return result;
  }

  grid_cells<cell_methods::counting, Context, T, D> list_;
};

}  // namespace

template <typename Context>
std::unique_ptr<contact_search> make_contact_search(const place& where, bool wide, const domain_given& domain,
                                                    const std::string& method, bool sorted, double bin_size) {
  if (wide) return std::make_unique<contacts_on<Context, double>>(where, domain, method, sorted, bin_size);
  return std::make_unique<contacts_on<Context, float>>(where, domain, method, sorted, bin_size);
}

template <typename Context>
std::unique_ptr<cell_search> make_cell_search(const place& where, bool wide, const domain_given& domain,
                                              const std::vector<int>& cells, double cutoff, bool accept_outside) {
  const auto dimension = static_cast<int>(domain.length.size());
  return with_instance<2>(wide, dimension, [&](auto t, auto d) -> std::unique_ptr<cell_search> {
    return std::make_unique<cells_on<Context, decltype(t), d.value>>(where, domain, cells, cutoff, accept_outside);
  });
}

template std::unique_ptr<contact_search> make_contact_search<built_context>(const place&, bool, const domain_given&,
                                                                            const std::string&, bool, double);
template std::unique_ptr<cell_search> make_cell_search<built_context>(const place&, bool, const domain_given&,
                                                                      const std::vector<int>&, double, bool);

}  // namespace quadrat::python
