// SPDX-License-Identifier: BSD-3-Clause
#include <limits>
#include <map>
#include <string>

#include "keyed/distributions.hpp"
#include "keyed/operations.hpp"
#include "keyed/paper_size.hpp"
#include "keyed/times.hpp"

namespace quadrat::bench {

namespace {

std::vector<std::size_t> element_counts(const session& s) {
  if (!s.full()) return {1000, 10'000};
  std::vector<std::size_t> counts{10'000, 100'000, 1'000'000};
  if (s.on_cuda()) counts.insert(counts.end(), {10'000'000, 100'000'000});
  return counts;
}

/// Methods much slower than the fastest at one size are skipped at the next.
template <typename Context>
void time_sizes(const session& s, const Context& context, std::string_view order) {
  constexpr double far = 2.5;
  std::map<std::string, double> last;
  for (const std::size_t n : element_counts(s)) {
    const auto keys = static_cast<std::uint32_t>(n / 10);
    keyed_problem<Context, float> problem(context, make_keys(order, n, keys), keys);
    double best = std::numeric_limits<double>::infinity();
    for (const auto& [method, ms] : last) best = std::min(best, ms);
    std::map<std::string, double> now;
    for (const key_variant& variant : key_variants(s, order == "ordered")) {
      const auto before = last.find(variant.method);
      const row identity = identify_keyed("sizes", variant, "float", n, keys, order, 1);
      if (!last.empty() && (before == last.end() || before->second > far * best)) {
        s.out().skip(identity, "it was far from the fastest at the size before");
        continue;
      }
      const auto measured = time_keyed(s, context, problem, variant, identity);
      if (measured) now[variant.method] = *measured;
    }
    last = now;
  }
}

}  // namespace

void run_keyed_sizes(const session& s) {
  with_context(s, [&](const auto& context) {
    for (const std::string_view order : paper_orders) time_sizes(s, context, order);
  });
}

}  // namespace quadrat::bench
