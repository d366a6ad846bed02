// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "choice/cases.hpp"
#include "choice/loads.hpp"
#include "choice/operations.hpp"
#include "choice/places.hpp"
#include "ewald/choice/cost.hpp"
#include "quadrat/ewald/electrostatics.hpp"
#include "tune/choice.hpp"

namespace quadrat::bench {

namespace {

struct ewald_case {
  std::string distribution;
  bool wide;
  std::size_t n;
  double accuracy;
};

[[nodiscard]] ewald_case draw_ewald_case(const session& s, const case_grid& grid, std::size_t number) {
  case_draw draw(grid.seed + 2, number);
  ewald_case what;
  what.distribution = draw.places_of(grid.name);
  what.wide = draw.chance(0.5);
  what.n = static_cast<std::size_t>(draw.between(30, !s.full() ? 200 : (s.on_cuda() ? 3e5 : 4e3)));
  what.accuracy = draw.between(what.wide ? 1e-7 : 1e-5, 1e-2);
  return what;
}

/// Charges of 1 and -1, alternating, at density 1.
template <typename Context, typename T>
struct charges_there {
  array<vec<T, 3>, Context> points;
  array<T, Context> charges;
  std::vector<lattice<T, 3>> cells;

  [[nodiscard]] electrostatics_input<T> input() const {
    return {points_of(points.data(), points.size()), charges.data(), cells, nullptr, {}};
  }
};

template <typename T, typename Context>
[[nodiscard]] charges_there<Context, T> make_charges(const Context& context, const ewald_case& what,
                                                     std::uint64_t seed) {
  const double edge = std::cbrt(static_cast<double>(what.n));
  const std::vector<double> places = make_places(what.distribution, what.n, 3, seed, false);
  std::vector<vec<T, 3>> points(what.n);
  std::vector<T> charges(what.n);
  for (std::size_t i = 0; i < what.n; ++i) {
    for (int axis = 0; axis < 3; ++axis) {
      points[i][axis] = static_cast<T>(edge * places[3 * i + static_cast<std::size_t>(axis)]);
    }
    charges[i] = i % 2 == 0 ? T(1) : T(-1);
  }
  const auto cube = make_box(vec<T, 3>::filled(0), vec<T, 3>::filled(static_cast<T>(edge)), vec<bool, 3>::filled(true));
  return {to_device(context, points), to_device(context, charges), {make_lattice(cube)}};
}

/// One choice of parameters, prepared.
template <typename Context, typename T>
struct ewald_rival {
  std::string name;
  std::unique_ptr<electrostatics<Context, T>> sums;
  detail::ewald_work work;
};

template <typename Context, typename T>
class ewald_rivals {
 public:
  ewald_rivals(const Context& context, const ewald_case& what, const charges_there<Context, T>& charges)
      : context_(context), what_(what), charges_(charges), forces_(context, what.n), energy_(context, 1) {
    for (const std::string method : {"spme", "esp"}) {
      const ewald_parameters free = add(method, method, {});
      if (free.order == 0) continue;
      add(method + ", order + 1", method, {.order = free.order + 1});
      add(method + ", order - 1", method, {.order = free.order - 1});
      add(method + ", cutoff x 0.75", method, {.cutoff = 0.75 * free.cutoff});
      add(method + ", cutoff x 1.3", method, {.cutoff = 1.3 * free.cutoff});
    }
    constexpr std::size_t most_direct = 1000;
    if (what.n <= most_direct) add("direct", "direct", {});
  }
  [[nodiscard]] const std::vector<ewald_rival<Context, T>>& all() const { return all_; }
  void sum(const ewald_rival<Context, T>& one) {
    one.sums->compute_async(charges_.input(), {forces_.data(), nullptr, nullptr, energy_.data(), nullptr});
  }

 private:
  /// Prepares sums that reach the accuracy. Returns their parameters; order 0 if there are none.
  ewald_parameters add(const std::string& name, const std::string& method, const ewald_parameters& given) {
    electrostatics_options options;
    options.method = method;
    options.accuracy = what_.accuracy;
    options.parameters = given;
    try {
      auto sums = std::make_unique<electrostatics<Context, T>>(context_, options);
      sums->compute(charges_.input(), {forces_.data(), nullptr, nullptr, energy_.data(), nullptr});
      const electrostatics_report report = sums->report();
      if (report.error > what_.accuracy) return {};
      all_.push_back({name, std::move(sums), work_of(report)});
      all_.back().work.pairs = pairs_of(*all_.back().sums);
      return report.parameters;
    } catch (const argument_error&) {
      return {};
    }
  }
  [[nodiscard]] detail::ewald_work work_of(const electrostatics_report& report) const {
    const vec<double, 3> mesh = cast<double>(report.parameters.mesh);
    const double edge = std::cbrt(static_cast<double>(what_.n));
    detail::ewald_work work;
    work.cuda = std::is_same_v<Context, cuda_context>;
    work.single_precision = sizeof(T) == 4;
    work.threads = detail::choice_place_of(context_).threads;
    work.points = static_cast<double>(what_.n);
    work.order = report.parameters.order;
    work.images = std::pow(1 + 2 * report.parameters.cutoff / edge, 3);
    if (report.method == "direct") {
      work.modes = (2 * mesh[0] + 1) * (2 * mesh[1] + 1) * (2 * mesh[2] + 1) / 2;
    } else {
      work.mesh_points = mesh[0] * mesh[1] * mesh[2];
    }
    return work;
  }
  [[nodiscard]] double pairs_of(const electrostatics<Context, T>& sums) const {
    for (const auto& [name, value] : sums.explanation().load) {
      if (name == "pairs") return value;
    }
    return 0;
  }

  const Context& context_;
  const ewald_case& what_;
  const charges_there<Context, T>& charges_;
  array<vec<T, 3>, Context> forces_;
  array<double, Context> energy_;
  std::vector<ewald_rival<Context, T>> all_;
};

template <typename T, typename Context>
void time_ewald_case(const Context& context, const session& s, const ewald_case& what, const numbered_case& one) {
  row identity = identify("ewald", "auto", sizeof(T) == 4 ? "float" : "double", what.n, 0, what.distribution);
  identity.erase("cells");
  identity["accuracy"] = what.accuracy;
  attempt_case(s, identity, one, [&](row& out) {
    rivals times(s);
    const auto charges = make_charges<T>(context, what, random_word(11, what.n));
    ewald_rivals<Context, T> methods(context, what, charges);
    while (times.another_round(s)) {
      for (const ewald_rival<Context, T>& method : methods.all()) {
        times.add(method.name, 1, [&] { return times.of(context, rivals::nothing{}, [&] { methods.sum(method); }); });
      }
    }
    times.write(out);
    for (const ewald_rival<Context, T>& method : methods.all()) out["load"][method.name] = to_row(method.work);
  });
}

}  // namespace

void run_choice_ewald(const session& s) {
  with_context(s, [&](const auto& context) {
    for_each_case(s, [&](const case_grid& grid, std::size_t k) {
      const ewald_case what = draw_ewald_case(s, grid, k);
      what.wide ? time_ewald_case<double>(context, s, what, {grid.name, k})
                : time_ewald_case<float>(context, s, what, {grid.name, k});
    });
  });
}

}  // namespace quadrat::bench
