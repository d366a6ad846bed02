// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <string>
#include <type_traits>
#include <vector>

#include "choice/cases.hpp"
#include "choice/loads.hpp"
#include "choice/operations.hpp"
#include "choice/places.hpp"
#include "quadrat/spectral/nufft_plan.hpp"
#include "spectral/cost.hpp"
#include "tune/choice.hpp"

namespace quadrat::bench {

namespace {

struct nufft_case {
  std::string distribution;
  bool wide, real;
  std::size_t n;
  int modes;  ///< along each axis
  double tolerance;
};

[[nodiscard]] nufft_case draw_nufft_case(const session& s, const case_grid& grid, std::size_t number, int dimension) {
  case_draw draw(grid.seed + 3, number);
  nufft_case what;
  what.distribution = draw.places_of(grid.name);
  what.wide = draw.chance(0.5);
  what.real = draw.chance(0.4);
  what.n = static_cast<std::size_t>(draw.between(100, !s.full() ? 1000 : (s.on_cuda() ? 3e7 : 1e5)));
  const double modes = draw.between(200, !s.full() ? 2000 : (s.on_cuda() ? 1e7 : 2e5));
  what.modes = std::max(2, static_cast<int>(std::pow(modes, 1.0 / dimension)));
  what.tolerance = draw.between(what.wide ? 1e-11 : 1e-5, 1e-2);
  return what;
}

/// A transform of type 1 and one of type 2. Times are those of one transform.
template <typename Context, typename T, int D>
class nufft_rival {
 public:
  nufft_rival(const Context& context, const nufft_case& what, double oversampling)
      : real_(what.real),
        plan_(context, vec<int, D>::filled(what.modes), what.tolerance, options(what, oversampling)) {}

  void set_points(const points_view<T, D>& points) { plan_.set_points(points); }
  /// `back`: the results of type 2, which are far larger than the values.
  void transform(const T* values, T* modes, T* back) {
    const auto* const complex_values = reinterpret_cast<const std::complex<T>*>(values);
    auto* const complex_modes = reinterpret_cast<std::complex<T>*>(modes);
    auto* const complex_back = reinterpret_cast<std::complex<T>*>(back);
    real_ ? plan_.type_1_async(values, complex_modes) : plan_.type_1_async(complex_values, complex_modes);
    real_ ? plan_.type_2_async(complex_modes, back) : plan_.type_2_async(complex_modes, complex_back);
  }
  [[nodiscard]] std::size_t modes() const { return plan_.mode_count(); }
  [[nodiscard]] detail::transform_load load(const Context& context) const {
    const detail::choice_place place = detail::choice_place_of(context);
    double nodes = 1;
    for (int axis = 0; axis < D; ++axis) nodes *= plan_.mesh()[axis];
    detail::transform_load load{std::is_same_v<Context, cuda_context>,    sizeof(T) == 4, real_ ? 1 : 2, D,
                                static_cast<double>(plan_.point_count()), nodes,          plan_.width(), place.threads};
    load.tiled = detail::sorts_points(load, *place.profile);
    return load;
  }

 private:
  [[nodiscard]] static nufft_options options(const nufft_case& what, double oversampling) {
    nufft_options result;
    result.values = what.real ? nufft_values::real : nufft_values::complex;
    result.period = vec<double, 3>::filled(1);
    result.oversampling = oversampling;
    return result;
  }
  bool real_;
  nufft_plan<Context, T, D> plan_;
};

template <typename T, int D, typename Context>
void time_nufft_case(const Context& context, const session& s, const nufft_case& what, const numbered_case& one) {
  row identity = identify("nufft", "auto", sizeof(T) == 4 ? "float" : "double", what.n, 0, what.distribution);
  identity.erase("cells");
  identity["dim"] = D;
  identity["modes"] = what.modes;
  identity["value"] = what.real ? "real" : "complex";
  identity["tolerance"] = what.tolerance;
  attempt_case(s, identity, one, [&](row& out) {
    const auto drawn = cast_all<T>(make_places(what.distribution, what.n, D, random_word(13, what.n), false));
    rivals times(s);
    const auto places = to_device(context, drawn);
    const points_view<T, D> points = strided_points<D>(places.data(), what.n);
    const array<T, Context> values = to_device(context, std::vector<T>((what.real ? 1 : 2) * what.n, T(1)));
    array<T, Context> back(context, values.size());
    while (times.another_round(s)) {
      for (const double oversampling : {1.25, 1.5, 2.0}) {
        const std::string name = message("oversampling ", oversampling);
        times.add(name, 1, [&] {
          nufft_rival<Context, T, D> method(context, what, oversampling);
          method.set_points(points);
          out["load"][name] = to_row(method.load(context));
          array<T, Context> modes(context, 2 * method.modes());
          const auto use = [&] { method.transform(values.data(), modes.data(), back.data()); };
          use();
          return times.of(context, rivals::nothing{}, use, 2);
        });
      }
    }
    times.write(out);
  });
}

template <int D, typename Context>
void time_nufft_cases(const Context& context, const session& s, const case_grid& grid, std::size_t k) {
  const nufft_case what = draw_nufft_case(s, grid, k, D);
  what.wide ? time_nufft_case<double, D>(context, s, what, {grid.name, k})
            : time_nufft_case<float, D>(context, s, what, {grid.name, k});
}

}  // namespace

void run_choice_nufft(const session& s) {
  with_context(s, [&](const auto& context) {
    for_each_case(s, [&](const case_grid& grid, std::size_t k) {
      switch (k % 4) {
        case 0:
          return time_nufft_cases<1>(context, s, grid, k);
        case 1:
          return time_nufft_cases<2>(context, s, grid, k);
        default:
          return time_nufft_cases<3>(context, s, grid, k);
      }
    });
  });
}

}  // namespace quadrat::bench
