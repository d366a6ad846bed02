// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "quadrat/core/error.hpp"
#include "reference/neighbor_list.hpp"
#include "support/random.hpp"

namespace quadrat::test {

using reference::neighbor_problem;

/// Makes searches of every kind: boxes smaller than the cutoff up to many times larger, open, periodic, mixed,
/// triclinic of both handedness; points at random, in clusters, on faces, in one place, and outside periodic boxes;
/// every rule, layout and option; queries, exclusions, batches.
template <typename T, int D>
class neighbor_problem_maker {
 public:
  explicit neighbor_problem_maker(std::uint64_t seed) : random_(seed * 0x9e3779b97f4a7c15u + 1) {}

  [[nodiscard]] neighbor_problem<T, D> make() {
    p_ = {};
    choose_options();
    make_boxes();
    make_points();
    if (p_.options.pairs == neighbor_pairs::full && one_in(4)) make_queries();
    make_properties();
    if (!p_.queries && one_in(4)) make_exclusions();
    return std::move(p_);
  }

 private:
  [[nodiscard]] std::size_t below(std::size_t bound) { return random_() % bound; }
  [[nodiscard]] bool one_in(std::size_t bound) { return below(bound) == 0; }
  [[nodiscard]] T between(double low, double high) {
    return static_cast<T>(low + (high - low) * random_unit<double>(random_));
  }
  [[nodiscard]] int whole_between(int low, int high) {
    return low + static_cast<int>(below(static_cast<std::size_t>(high - low + 1)));
  }

  void choose_options() {
    auto& o = p_.options;
    o.cutoff = one_in(2) ? T(1) : between(0.1, 10);
    if (one_in(5)) o.skin = o.cutoff * between(0.01, 0.5);
    constexpr cutoff_rule rules[] = {cutoff_rule::sum_of_radii, cutoff_rule::larger_radius, cutoff_rule::own_radius,
                                     cutoff_rule::table_of_types};
    if (one_in(2)) o.rule = rules[below(4)];
    if (o.rule != cutoff_rule::own_radius && one_in(2)) o.pairs = neighbor_pairs::half;
    o.layout = static_cast<neighbor_layout>(below(3));
    o.sorted = one_in(2);
    o.squared_distances = one_in(2);
    o.vectors = one_in(2);
    o.shifts = !one_in(3);
    o.accept_outside = one_in(4);
  }

  [[nodiscard]] T edge_length() {
    const T reach = p_.options.cutoff + p_.options.skin;
    switch (below(4)) {
      case 0:
        return reach * between(0.3, 1);
      case 1:
        return reach * between(1, 3);
      case 2:
        return reach * static_cast<T>(whole_between(1, 4));  // cells and cutoff of one size
      default:
        return reach * between(3, 8);
    }
  }

  [[nodiscard]] lattice<T, D> make_box() {
    vec<vec<T, D>, D> vectors{};
    vec<T, D> origin{};
    vec<bool, D> periodic{};
    const std::size_t kind = below(4);  // of every four: two orthorhombic, one tilted, one turned
    const std::size_t walls = below(4);
    for (int axis = 0; axis < D; ++axis) {
      vectors[axis][axis] = edge_length();
      origin[axis] = one_in(2) ? T(0) : between(-10, 10);
      periodic[axis] = walls == 0 || (walls > 1 && one_in(2));
    }
    if (kind >= 2) {
      for (int axis = 0; axis < D; ++axis) {
        for (int k = 0; k < D; ++k) {
          if (k < axis || (kind == 3 && k != axis)) vectors[axis][k] = vectors[k][k] * between(-0.45, 0.45);
        }
      }
      if (one_in(2)) std::swap(vectors[0], vectors[1]);  // the other handedness
      if (one_in(3)) vectors[D - 1] = T(-1) * vectors[D - 1];
    }
    return make_lattice(origin, vectors, periodic);
  }

  void make_boxes() {
    const std::size_t systems = one_in(4) ? 2 + below(5) : 1;
    for (std::size_t k = 0; k < systems; ++k) p_.boxes.push_back(one_in(4) && k > 0 ? p_.boxes.back() : make_box());
  }

  /// The approximate number of images within reach of one pair.
  [[nodiscard]] static double images(const lattice<T, D>& box, T reach) {
    double count = 1;
    for (int axis = 0; axis < D; ++axis) {
      if (box.periodic[axis]) count *= 2 * std::ceil(reach / box.height(axis)) + 3;
    }
    return count;
  }

  [[nodiscard]] std::size_t system_of(std::size_t i) const {
    return p_.system_of_point.empty() ? 0 : p_.system_of_point[i];
  }

  void make_points() {
    double most = 0;
    for (const auto& box : p_.boxes) most = std::max(most, images(box, p_.options.cutoff + p_.options.skin));
    // So that the reference tests some ten thousand images.
    const auto affordable = static_cast<std::size_t>(std::sqrt(60'000 / most)) + 2;
    const std::size_t count = one_in(10) ? below(3) : 1 + below(std::min<std::size_t>(affordable, 120));
    const std::size_t kind = below(5);
    if (p_.boxes.size() > 1) {
      for (std::size_t i = 0; i < count; ++i) {
        p_.system_of_point.push_back(static_cast<std::uint32_t>(below(p_.boxes.size())));
      }
      if (one_in(2)) std::sort(p_.system_of_point.begin(), p_.system_of_point.end());
    }
    for (std::size_t i = 0; i < count; ++i) p_.points.push_back(make_point(p_.boxes[system_of(i)], kind));
  }

  [[nodiscard]] T make_fraction(std::size_t kind, int axis) {
    switch (kind) {
      case 0:
        return static_cast<T>(whole_between(0, 4)) / T(4);  // on faces of the box and of cells
      case 1:
        return T(0.3) + T(0.1) * static_cast<T>(axis);  // all in one place
      case 2:
        return T(0.9) + between(0, 0.1);
      default:
        return between(0, 1);
    }
  }

  [[nodiscard]] vec<T, D> make_point(const lattice<T, D>& box, std::size_t kind) {
    vec<T, D> fractions{};
    const bool stray = one_in(3);
    for (int axis = 0; axis < D; ++axis) {
      fractions[axis] = make_fraction(kind, axis);
      // Rounding must not put a point outside along an open axis: it is on a face only if that is exact.
      const bool open = !box.periodic[axis];
      if (open && !box.orthorhombic) fractions[axis] = std::clamp(fractions[axis], T(0.01), T(0.99));
      if (stray && (!open || p_.options.accept_outside)) fractions[axis] += static_cast<T>(whole_between(-2, 2));
    }
    if (p_.options.accept_outside) return at(box, fractions);
    const vec<T, D> point = at(box, fractions);
    for (int axis = 0; axis < D; ++axis) {
      const T fraction = box.fraction(point, axis);
      if (!box.periodic[axis] && !(fraction >= T(0) && fraction <= T(1))) fractions[axis] = T(0.5);
    }
    return at(box, fractions);
  }

  [[nodiscard]] static vec<T, D> at(const lattice<T, D>& box, const vec<T, D>& fractions) {
    vec<T, D> point = box.origin;
    for (int axis = 0; axis < D; ++axis) point += fractions[axis] * box.vectors[axis];
    return point;
  }

  void make_queries() {
    p_.queries.emplace();
    p_.options.skin = T(0);  // queries have none
    const std::size_t count = below(40);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t system = below(p_.boxes.size());
      if (p_.boxes.size() > 1) p_.system_of_query.push_back(static_cast<std::uint32_t>(system));
      p_.queries->push_back(make_point(p_.boxes[system], below(4)));
    }
  }

  void make_properties() {
    auto& o = p_.options;
    if (o.rule == cutoff_rule::table_of_types) {
      const std::size_t types = 1 + below(4);
      o.type_cutoffs.assign(types * types, T(0));
      for (std::size_t a = 0; a < types; ++a) {
        for (std::size_t b = 0; b <= a; ++b) {
          const T cutoff = one_in(4) ? T(0) : one_in(3) ? o.cutoff : o.cutoff * between(0.2, 1);
          o.type_cutoffs[a * types + b] = o.type_cutoffs[b * types + a] = cutoff;
        }
      }
      const auto fill = [&](std::vector<std::uint32_t>& values, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) values.push_back(static_cast<std::uint32_t>(below(types)));
      };
      fill(p_.types, p_.points.size());
      if (p_.queries) fill(p_.types_of_queries, p_.queries->size());
    } else if (o.rule != cutoff_rule::uniform) {
      const T largest = o.rule == cutoff_rule::sum_of_radii ? o.cutoff / 2 : o.cutoff;
      const auto fill = [&](std::vector<T>& values, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
          values.push_back(one_in(8) ? largest : one_in(8) ? T(0) : largest * between(0.1, 1));
        }
      };
      fill(p_.radii, p_.points.size());
      if (p_.queries) fill(p_.radii_of_queries, p_.queries->size());
    }
  }

  /// Exclusions in which some pairs occur once, some twice, and some points exclude themselves.
  void make_exclusions() {
    p_.excluded_offsets.push_back(0);
    for (std::size_t i = 0; i < p_.points.size(); ++i) {
      for (std::size_t k = below(4); k > 0; --k) {
        p_.excluded.push_back(static_cast<particle_id>(below(p_.points.size())));
      }
      p_.excluded_offsets.push_back(p_.excluded.size());
    }
  }

  std::mt19937_64 random_;
  neighbor_problem<T, D> p_;
};

template <typename T, int D>
[[nodiscard]] std::string describe(const neighbor_problem<T, D>& p) {
  const auto& o = p.options;
  std::string text = message(D, "D, ", p.points.size(), " points, cutoff ", o.cutoff, ", skin ", o.skin, ", rule ",
                             static_cast<int>(o.rule), o.pairs == neighbor_pairs::half ? ", half" : "", ", layout ",
                             static_cast<int>(o.layout), o.sorted ? ", sorted" : "", o.shifts ? ", shifts" : "",
                             o.accept_outside ? ", outside accepted" : "", p.queries ? ", queries" : "",
                             p.excluded_offsets.empty() ? "" : ", exclusions");
  for (const auto& box : p.boxes) {
    text += "; box from";
    for (int k = 0; k < D; ++k) text += message(" ", box.origin[k]);
    for (int axis = 0; axis < D; ++axis) {
      text += box.periodic[axis] ? ", periodic" : ", open";
      for (int k = 0; k < D; ++k) text += message(" ", box.vectors[axis][k]);
    }
  }
  return text;
}

}  // namespace quadrat::test
