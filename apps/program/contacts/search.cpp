// SPDX-License-Identifier: BSD-3-Clause
#include "program/contacts/search.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "program/contacts/output.hpp"
#include "program/data_place.hpp"
#include "program/process/stopwatch.hpp"
#include "quadrat/contacts/contact_detector.hpp"
#include "quadrat/core/array.hpp"

namespace quadrat::program {
namespace {

/// Contacts copied to the host at a time.
constexpr std::size_t contacts_a_block = std::size_t{1} << 16;

template <typename T>
vec<T, 3> rounded(const vec<double, 3>& v) {
  return {static_cast<T>(v[0]), static_cast<T>(v[1]), static_cast<T>(v[2])};
}

template <typename T>
std::vector<vec<T, 3>> rounded(const std::vector<vec<double, 3>>& from) {
  std::vector<vec<T, 3>> result(from.size());
  std::transform(from.begin(), from.end(), result.begin(), [](const auto& v) { return rounded<T>(v); });
  return result;
}

template <typename T>
contact_options<T> options_for(const contacts_options& options, const contact_surroundings& surroundings) {
  contact_options<T> result;
  result.method = options.method;
  result.bin_size = static_cast<T>(options.bin_size);
  result.masks = surroundings.masks;
  result.sorted = options.output.has_value();
  if (surroundings.domain) {
    const auto& domain = *surroundings.domain;
    result.domain = make_box_from_lengths(rounded<T>(domain.lower), rounded<T>(domain.length), domain.periodic);
  }
  return result;
}

/// Bodies in the memory of a context.
template <typename Context, typename T>
class body_arrays {
 public:
  body_arrays(const Context& context, const io::body_list& bodies, const std::vector<plane<double>>& planes)
      : centers_(to_device(context, rounded<T>(bodies.centers))),
        sizes_(to_device(context, rounded<T>(bodies.sizes))),
        shapes_(to_device(context, bodies.shapes)),
        orientations_(to_device(context, turned(bodies))),
        groups_(to_device(context, bodies.groups)),
        spheres_(std::all_of(bodies.shapes.begin(), bodies.shapes.end(),
                             [](body_shape shape) { return shape == body_shape::sphere; })) {
    for (const plane<double>& p : planes) {
      planes_.push_back({rounded<T>(p.normal), static_cast<T>(p.offset), p.group});
    }
  }

  [[nodiscard]] bodies_view<T> view() const {
    bodies_view<T> result;
    result.centers = points_of(centers_.data(), centers_.size());
    result.sizes = sizes_.data();
    if (!spheres_) result.shapes = shapes_.data();
    if (orientations_.size() > 0) result.orientations = orientations_.data();
    if (groups_.size() > 0) result.groups = groups_.data();
    result.planes = planes_;
    return result;
  }

 private:
  static std::vector<quaternion<T>> turned(const io::body_list& bodies) {
    std::vector<quaternion<T>> result;
    result.reserve(bodies.orientations.size());
    for (const auto& q : bodies.orientations) {
      result.push_back({static_cast<T>(q.w), static_cast<T>(q.x), static_cast<T>(q.y), static_cast<T>(q.z)});
    }
    return result;
  }

  array<vec<T, 3>, Context> centers_, sizes_;
  array<body_shape, Context> shapes_;
  array<quaternion<T>, Context> orientations_;
  array<std::uint32_t, Context> groups_;
  bool spheres_;
  std::vector<plane<T>> planes_;
};

template <typename Context, typename T>
void write_contacts(const Context& context, const contacts_view<T>& view, const std::string& file) {
  std::unique_ptr<contact_output<T>> out;
  if (file.ends_with(".npy")) {
    out = std::make_unique<npy_contact_output<T>>(file, view.count);
  } else {
    out = std::make_unique<csv_contact_output<T>>(file);
  }
  for (std::uint64_t first = 0; first < view.count; first += contacts_a_block) {
    const std::size_t number = std::min<std::uint64_t>(contacts_a_block, view.count - first);
    out->write(to_host(context, view.records + first, number));
  }
  out->commit();
}

template <typename T, typename Context>
contacts_report contacts_on(const Context& context, const contacts_options& options, const io::body_list& bodies,
                            const contact_surroundings& surroundings) {
  contacts_report report;
  report.device = used(context);
  contact_detector<Context, T> detector(context, options_for<T>(options, surroundings));
  const body_arrays<Context, T> arrays(context, bodies, surroundings.planes);
  {
    const stopwatch time(report.search_seconds);
    detector.build(arrays.view());
  }
  report.contacts = detector.size();
  report.method = detector.method();
  report.bin_size = static_cast<double>(detector.bin_size());
  report.reason = detector.reason();
  report.explanation = detector.explanation();
  report.memory_bytes = detector.bytes();
  if (options.output) {
    const stopwatch time(report.writing_seconds);
    write_contacts(context, detector.view(), *options.output);
  }
  return report;
}

}  // namespace

contacts_report find_contacts(const contacts_options& options, const io::body_list& bodies,
                              const contact_surroundings& surroundings) {
  return naming_places(bodies.file, bodies.lines, [&] {
    return on_device(options.device, [&](const auto& context) {
      return options.precision == "float" ? contacts_on<float>(context, options, bodies, surroundings)
                                          : contacts_on<double>(context, options, bodies, surroundings);
    });
  });
}

}  // namespace quadrat::program
