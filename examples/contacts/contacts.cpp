// SPDX-License-Identifier: BSD-3-Clause Bodies, their contacts, matching contacts in the next step, and a custom narrow
// phase.
#include <quadrat/contacts/make_contact_detector.hpp>
#include <quadrat/parallel/atomic.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

namespace {

using quadrat::body_shape;
using vector3 = quadrat::vec<double, 3>;

/// A box on the floor, a ball on top of it, and a capsule that leans on both.
struct pile {
  std::vector<vector3> centers{{0, 0, 0.95}, {0, 0, 2.4}, {0.85, 0, 2.7}};
  std::vector<body_shape> shapes{body_shape::box, body_shape::sphere, body_shape::capsule};
  std::vector<vector3> sizes{{1, 1, 1}, {0.5, 0, 0}, {0.4, 0.5, 0}};
  std::vector<quadrat::quaternion<double>> orientations{{1, 0, 0, 0}, {1, 0, 0, 0}, {1, 0, 0.2, 0}};
  std::vector<quadrat::particle_id> ids{10, 20, 30};  // stay with the bodies
  std::vector<quadrat::plane<double>> planes{{{0, 0, 1}, 0}};

  /// Inserts another ball, far from the others, at the front.
  void put_in_front() {
    centers.insert(centers.begin(), {9, 9, 0.3});
    shapes.insert(shapes.begin(), body_shape::sphere);
    sizes.insert(sizes.begin(), {0.35, 0, 0});
    orientations.insert(orientations.begin(), {1, 0, 0, 0});
    ids.insert(ids.begin(), 40);
  }

  /// A view: nothing is copied.
  [[nodiscard]] quadrat::bodies_view<double> view() const {
    quadrat::bodies_view<double> bodies;
    bodies.centers = quadrat::points_of(centers);
    bodies.shapes = shapes.data();
    bodies.sizes = sizes.data();
    bodies.orientations = orientations.data();
    bodies.ids = ids.data();
    bodies.planes = planes;
    return bodies;
  }
};

/// Finds the contacts of the pile in two steps; between them the ball is lifted off, and another one is added. Returns
/// how many contacts of the second step are old.
std::size_t find_contacts(const quadrat::cpu_context& context) {
  pile bodies;
  auto detector = quadrat::make_contact_detector<double>(context, {.sorted = true});  // by (a, b, feature)
  auto matcher = quadrat::make_contact_matcher(context);

  std::size_t kept = 0;
  for (int step = 0; step < 2; ++step) {
    detector.build(bodies.view());
    const auto contacts = detector.view();
    matcher.match(quadrat::keys_of(contacts));
    std::printf("step %d: %zu contacts, by %s\n", step, static_cast<std::size_t>(contacts.count),
                std::string(detector.method()).c_str());
    for (std::size_t k = 0; k < contacts.count; ++k) {
      const auto& contact = contacts.records[k];
      const bool is_new = matcher.previous()[k] == quadrat::no_contact;
      const bool floor = contact.b >= quadrat::first_plane;
      const std::string other = floor ? "the floor" : std::to_string(bodies.ids[contact.b]);
      std::printf("  %u and %s: depth %.3f, normal (%.2f, %.2f, %.2f)%s\n", bodies.ids[contact.a], other.c_str(),
                  contact.depth, contact.normal[0], contact.normal[1], contact.normal[2], is_new ? ", new" : "");
      if (!is_new) ++kept;
    }
    bodies.centers[1][2] += 0.2;
    bodies.put_in_front();
  }
  return kept;
}

/// Two balls that touch across a face of a periodic box. Lever arms belong to the touching images, wherever the centers
/// lie. Returns the error of the arms.
double arms_across_a_face(const quadrat::cpu_context& context) {
  const std::vector<vector3> centers{{0.25, 1, 1}, {3.75, 1, 1}};
  quadrat::bodies_view<double> bodies;
  bodies.centers = quadrat::points_of(centers);
  bodies.radius = 0.5;
  const auto box = quadrat::make_box<double, 3>({0, 0, 0}, {4, 4, 4}, {true, true, true});
  auto detector = quadrat::make_contact_detector(context, box);
  detector.build(bodies);
  const auto& contact = detector.view().records[0];
  const vector3 arm_a = quadrat::arm_a(contact, centers[0]);
  const vector3 arm_b = quadrat::arm_b(contact, centers[1], box);
  std::printf("across a face: shift (%d, %d, %d), arms along x %.2f and %.2f\n", contact.shift[0], contact.shift[1],
              contact.shift[2], arm_a[0], arm_b[0]);
  return std::fabs(arm_a[0] + 0.5) + std::fabs(arm_b[0] - 0.5);
}

/// Finds pairs whose boxes overlap, each once, and processes each: here it counts overlapping corners.
std::uint32_t overlapping_corners(const quadrat::cpu_context& context) {
  const std::vector<vector3> lower{{0, 0, 0}, {0.5, 0.5, 0}, {4, 4, 4}}, upper{{1, 1, 1}, {2, 2, 1}, {5, 5, 5}};
  quadrat::bounds_view<double> bounds;
  bounds.lower = quadrat::points_of(lower);
  bounds.upper = quadrat::points_of(upper);

  auto pairs = quadrat::make_broad_phase<double>(context);
  pairs.build(bounds);
  std::uint32_t found = 0;
  quadrat::for_each_candidate_pair(context, pairs.view(), [&](quadrat::particle_id a, quadrat::particle_id b) {
    if (lower[b][0] < upper[a][0] && lower[b][1] < upper[a][1]) quadrat::atomic_add(&found, 1u);
  });
  return found;
}

}  // namespace

int main() {
  try {
    const quadrat::cpu_context context;
    const std::size_t kept = find_contacts(context);
    const double off = arms_across_a_face(context);
    const std::uint32_t corners = overlapping_corners(context);
    std::printf("%zu contacts stayed; %u corners overlap\n", kept, corners);
    return kept == 6 && off < 1e-12 && corners == 1 ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "contacts: %s\n", error.what());
    return 1;
  }
}
