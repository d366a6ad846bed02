// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/contacts/contact_detector.hpp"

#include "c/arrays.hpp"
#include "core/backend.hpp"

struct quadrat_contact_detector : quadrat::c::handle {
  virtual void build(const quadrat_bodies& bodies, bool wait) = 0;
  virtual void check() = 0;
  [[nodiscard]] virtual quadrat_contact_view view() = 0;
  virtual void write(int output, int index_type, void* to, bool wait) = 0;
};

namespace quadrat::c {

static_assert(sizeof(quadrat_contact_float32) == sizeof(contact<float>) &&
              offsetof(quadrat_contact_float32, depth) == offsetof(contact<float>, depth) &&
              offsetof(quadrat_contact_float32, shift) == offsetof(contact<float>, shift) &&
              offsetof(quadrat_contact_float32, feature) == offsetof(contact<float>, feature));
static_assert(sizeof(quadrat_contact_float64) == sizeof(contact<double>) &&
              offsetof(quadrat_contact_float64, depth) == offsetof(contact<double>, depth) &&
              offsetof(quadrat_contact_float64, shift) == offsetof(contact<double>, shift) &&
              offsetof(quadrat_contact_float64, feature) == offsetof(contact<double>, feature));

using contact_detector_handle = std::unique_ptr<quadrat_contact_detector>;
contact_detector_handle make_detector(const cpu_context& context, const quadrat_contact_options& options);
contact_detector_handle make_detector(const cuda_context& context, const quadrat_contact_options& options);

namespace {

/// Maps invalid shape numbers to one that the library refuses.
struct as_shape {
  const std::uint32_t* from;
  body_shape* to;
  QUADRAT_HD void operator()(std::size_t i) const { to[i] = static_cast<body_shape>(from[i] < 255 ? from[i] : 255); }
};

/// A field of all records: `values` numbers, `offset` bytes from the beginning of each.
template <typename T, typename From, typename To>
struct field_of {
  const contact<T>* records;
  std::size_t offset;
  std::size_t values;
  To* to;
  QUADRAT_HD void operator()(std::size_t i) const {
    const auto* const from =
        reinterpret_cast<const From*>(reinterpret_cast<const unsigned char*>(records + i) + offset);
    for (std::size_t k = 0; k < values; ++k) to[i * values + k] = static_cast<To>(from[k]);
  }
};

template <typename T>
[[nodiscard]] contact_options<T> contact_options_of(const quadrat_contact_options& given) {
  contact_options<T> result;
  result.method = text_of(given.method);
  if (result.method == "auto") result.method.clear();
  result.sorted = given.sorted != 0;
  result.bin_size = static_cast<T>(given.bin_size);
  require_array(given.domain, given.systems, "domains");
  for (std::size_t s = 0; s < given.systems; ++s) result.domains.push_back(box_of<T, 3>(given.domain[s]));
  if (given.systems == 0 && given.domain != nullptr) result.domain = box_of<T, 3>(*given.domain);
  if (given.masks != nullptr) std::copy_n(given.masks, result.masks.size(), result.masks.begin());
  return result;
}

template <typename T>
[[nodiscard]] std::vector<plane<T>> planes_of(const quadrat_bodies& given) {
  require_array(given.planes, given.plane_count, "planes");
  std::vector<plane<T>> result;
  for (std::size_t p = 0; p < given.plane_count; ++p) {
    const double* const four = given.planes + 4 * p;
    result.push_back(
        {{static_cast<T>(four[0]), static_cast<T>(four[1]), static_cast<T>(four[2])}, static_cast<T>(four[3])});
  }
  return result;
}

template <typename Context, typename T>
class contact_detector_on final : public quadrat_contact_detector {
 public:
  contact_detector_on(const Context& context, const quadrat_contact_options& options)
      : context_(context), detector_(context, contact_options_of<T>(options)) {}

  void build(const quadrat_bodies& bodies, bool wait) override {
    bodies_view<T> view;
    const std::size_t count = bodies.centers.count;
    view.centers = points_in<T, 3>(context_, bodies.centers, "centers");
    view.shape = numbered(bodies.shape, body_shape::box, "shape");
    view.shapes = shapes_of(bodies, wait);
    view.radius = static_cast<T>(bodies.radius);
    view.radii = optional_array<T>(context_, bodies.radii, "radii");
    view.sizes = optional_array<vec<T, 3>>(context_, bodies.sizes, "sizes");
    view.orientations = optional_array<quaternion<T>>(context_, bodies.orientations, "orientations");
    view.groups = groups_.of(context_, bodies.groups, count, "groups", wait);
    view.ids = ids_.of(context_, bodies.ids, count, "ids", wait);
    view.system_of_body = systems_.of(context_, bodies.system_of_body, count, "system_of_body", wait);
    const std::vector<plane<T>> planes = planes_of<T>(bodies);
    view.planes = planes;
    if (!wait) return detector_.build_async(view);
    detector_.build(view);
  }
  void check() override { detector_.check(); }
  [[nodiscard]] quadrat_contact_view view() override {
    const contacts_view<T> found = detector_.view();
    return {0, found.count, found.records};
  }

  void write(int output, int index_type, void* to, bool wait) override {
    write_array(output, index_type, to);
    if (wait) context_.synchronize();
  }
  [[nodiscard]] quadrat_info info() override { return info_of(detector_); }

 private:
  void write_array(int output, int index_type, void* to) {
    using record = contact<T>;
    switch (output) {
      case QUADRAT_CONTACT_A:
        return write_indices<particle_id>(offsetof(record, a), 1, index_type, to);
      case QUADRAT_CONTACT_B:
        return write_indices<particle_id>(offsetof(record, b), 1, index_type, to);
      case QUADRAT_CONTACT_FEATURE:
        return write_indices<std::uint32_t>(offsetof(record, feature), 1, index_type, to);
      case QUADRAT_CONTACT_SHIFT:
        return write_indices<int>(offsetof(record, shift), 3, index_type, to);
      case QUADRAT_CONTACT_DEPTH:
        return write_field<T, T>(offsetof(record, depth), 1, to);
      case QUADRAT_CONTACT_NORMAL:
        return write_field<T, T>(offsetof(record, normal), 3, to);
      case QUADRAT_CONTACT_POINT_A:
        return write_field<T, T>(offsetof(record, point_a), 3, to);
      case QUADRAT_CONTACT_POINT_B:
        return write_field<T, T>(offsetof(record, point_b), 3, to);
      default:
        throw argument_error(message("output is ", output, "; a value of quadrat_contact_output is needed"));
    }
  }
  [[nodiscard]] const body_shape* shapes_of(const quadrat_bodies& bodies, bool wait) {
    require(wait || bodies.shapes.data == nullptr, "shapes are given to a call that does not wait");
    const std::size_t count = bodies.centers.count;
    const std::uint32_t* const numbers = numbers_.of(context_, bodies.shapes, count, "shapes");
    if (numbers == nullptr) return nullptr;
    shapes_.resize_discarding(context_, count);
    for_each(context_, "c.shapes", count, as_shape{numbers, shapes_.data()});
    return shapes_.data();
  }
  template <typename From, typename To>
  void write_field(std::size_t offset, std::size_t values, void* to) {
    const contacts_view<T> found = detector_.view();
    const auto count = static_cast<std::size_t>(found.count);
    To* const results = results_in<To>(context_, to, count, "to");
    for_each(context_, "c.contacts", count, field_of<T, From, To>{found.records, offset, values, results});
  }
  template <typename From>
  void write_indices(std::size_t offset, std::size_t values, int index_type, void* to) {
    with_index_type(index_type, [&](auto type) { write_field<From, decltype(type)>(offset, values, to); });
  }

  Context context_;
  index_array<Context> numbers_, groups_, ids_, systems_;
  array<body_shape, Context> shapes_;
  contact_detector<Context, T> detector_;
};

}  // namespace

contact_detector_handle make_detector(const backend_context& context, const quadrat_contact_options& options) {
  return with_number_type(options.type, [&](auto t) -> contact_detector_handle {
    return std::make_unique<contact_detector_on<backend_context, decltype(t)>>(context, options);
  });
}

#if QUADRAT_BACKEND_CPU

static quadrat_bodies bodies_taken(const quadrat_bodies* bodies) {
  return taken(bodies, offsetof(quadrat_bodies, shape), "bodies");
}

extern "C" {

int quadrat_contact_detector_create(quadrat_context* context, const quadrat_contact_options* options,
                                    quadrat_contact_detector** detector) {
  return create(context, detector, [&](const auto& backend) {
    return make_detector(backend, taken(options, offsetof(quadrat_contact_options, sorted), "options"));
  });
}
void quadrat_contact_detector_destroy(quadrat_contact_detector* detector) { destroy(detector); }
int quadrat_contact_detector_build(quadrat_contact_detector* detector, const quadrat_bodies* bodies) {
  return with(detector, [&](auto& one) { one.build(bodies_taken(bodies), true); });
}
int quadrat_contact_detector_build_async(quadrat_contact_detector* detector, const quadrat_bodies* bodies) {
  return with(detector, [&](auto& one) { one.build(bodies_taken(bodies), false); });
}
int quadrat_contact_detector_check(quadrat_contact_detector* detector) {
  return with(detector, [](auto& one) { one.check(); });
}
int quadrat_contact_detector_view(quadrat_contact_detector* detector, quadrat_contact_view* view) {
  return with(detector, [&](auto& one) { give(one.view(), view, "view"); });
}
int quadrat_contact_detector_write(quadrat_contact_detector* detector, int output, int index_type, void* to) {
  return with(detector, [&](auto& one) { one.write(output, index_type, to, true); });
}
int quadrat_contact_detector_write_async(quadrat_contact_detector* detector, int output, int index_type, void* to) {
  return with(detector, [&](auto& one) { one.write(output, index_type, to, false); });
}
int quadrat_contact_detector_info(quadrat_contact_detector* detector, quadrat_info* to) { return info(detector, to); }

}  // extern "C"

#endif

}  // namespace quadrat::c
