// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "choice/cases.hpp"
#include "choice/loads.hpp"
#include "choice/operations.hpp"
#include "keyed/distributions.hpp"
#include "keyed/late_sample.hpp"
#include "keyed/problem.hpp"
#include "keyed/sample.hpp"
#include "keyed/variants.hpp"

namespace quadrat::bench {

namespace {

struct key_case {
  std::string order;
  std::uint32_t keys;
  std::size_t n;
  bool wide;  ///< double precision
  int components;
  determinism level;
  std::uint64_t seed;
};

[[nodiscard]] key_case draw_key_case(const session& s, const case_grid& grid, std::size_t number) {
  case_draw draw(grid.seed, number);
  key_case what;
  what.order = draw.one_of(key_orders);
  const double most = !s.full() ? 5000 : (s.on_cuda() ? 8e6 : 1e6);
  what.n = static_cast<std::size_t>(draw.between(s.on_cuda() ? 1000 : 100, most));
  what.keys = static_cast<std::uint32_t>(draw.between(2, most));
  what.wide = draw.chance(0.4);
  what.components = draw.one_of(std::array{1, 1, 1, 2, 4});
  what.level = draw.chance(0.25) ? determinism::run_to_run : determinism::none;
  what.seed = draw.seed();
  // Some cases have results too large for all caches, because their constants are fitted, too.
  const bool large = s.full() && !s.on_cuda() && grid.name == "fit" && draw.chance(0.12);
  if (large) {
    what.n = static_cast<std::size_t>(draw.between(1e6, 5e6));
    what.keys = static_cast<std::uint32_t>(draw.between(1e6, 2e7));
  }
  return what;
}

/// The time of a sample. On CUDA, if nothing waits for it, its time on the stream.
template <typename Context, typename Take>
[[nodiscard]] double sample_ms(const Context& context, determinism level, const detail::key_source& source,
                               const detail::key_sample_layout& layout, const Take& take) {
  if constexpr (std::is_same_v<Context, cuda_context>) {
    detail::late_key_sample late;
    if (level == determinism::none) return call_ms(context, [&] { late.start(context, source, layout); });
  }
  return call_ms(context, take);
}

template <typename T, typename Context>
void time_key_case(const Context& given, const session& s, const key_case& what, const numbered_case& one) {
  row identity =
      identify_keyed("keyed", {.method = "auto"}, value_type_name<T>(), what.n, what.keys, what.order, what.components);
  identity["level"] = static_cast<int>(what.level);
  attempt_case(s, identity, one, [&](row& out) {
    constexpr double middle_uses = 3;
    constexpr std::size_t queue_worth_seeing = 1000;
    const Context context = what.level == determinism::none ? given : make_context<Context>(s, what.level);
    const auto keys = make_keys(what.order, what.n, what.keys, what.seed);
    rivals times(s);
    keyed_problem<Context, T> problem(context, keys, what.keys, what.components);
    while (times.another_round(s)) {
      for (const key_variant& variant : key_variants(s, false, what.level)) {
        if (variant.method == "auto") continue;
        if (s.on_cuda() && queues_for_a_key(variant.method) && problem.most_of_a_key() > queue_worth_seeing) continue;
        for (const bool kept : {false, true}) {
          times.add(variant.method + (kept ? " kept" : ""), middle_uses, [&] {
            key_reducer<Context> reducer(context, problem.key_count(),
                                         variant.options(kept ? 10 : 1, problem.value_bytes(), problem.components()));
            problem.set_keys(reducer);
            return times.of(
                context, [&] { problem.set_keys_async(reducer); }, [&] { problem.reduce_async(reducer); });
          });
        }
      }
    }
    times.write(out);
    const auto device_keys = to_device(context, keys);
    const detail::key_source source{device_keys.data(), what.n, what.keys, false, {}};
    workspace<Context> scratch;
    detail::key_request request{};
    const auto layout = detail::key_sample_layout::of(s.on_cuda(), what.n);
    const auto take = [&] {
      request.sample = detail::summarize(layout, detail::read_key_sample(context, source, layout, scratch));
    };
    take();
    out["sample_ms"] = sample_ms(context, what.level, source, layout, take);
    request.cuda = s.on_cuda();
    request.threads = 1;
    if constexpr (std::is_same_v<Context, cpu_context>) request.threads = context.threads();
    request.level = what.level;
    request.elements = static_cast<double>(what.n);
    request.keys = what.keys;
    request.row_bytes = problem.value_bytes();
    request.values = what.components;
    request.uses = 1;
    out["load"] = to_row(request);
  });
}

template <typename Context>
void time_key_cases(const session& s, const Context& context) {
  for_each_case(s, [&](const case_grid& grid, std::size_t k) {
    const key_case what = draw_key_case(s, grid, k);
    what.wide ? time_key_case<double>(context, s, what, {grid.name, k})
              : time_key_case<float>(context, s, what, {grid.name, k});
  });
}

}  // namespace

void run_choice_keyed(const session& s) {
  with_context(s, [&](const auto& context) { time_key_cases(s, context); });
}

}  // namespace quadrat::bench
