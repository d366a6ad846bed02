// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "cells/crowd.hpp"
#include "cells/operations.hpp"
#include "harness/stopwatch.hpp"

namespace quadrat::bench {

namespace {

/// Position or velocity as four floats; the last is padding.
struct alignas(16) carried_record {
  float value[4];
};

constexpr double share_of_movers = 0.02;

/// Moves some particles across a face, after which the points are no longer in the order of cells.
void move_some(std::vector<carried_record>& positions, const cube& room) {
  const auto edge = static_cast<float>(2 * grain_radius);
  const auto half = static_cast<float>(room.half_side());
  const auto last = static_cast<std::int64_t>(positions.size());
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < last; ++i) {
    const auto particle = static_cast<std::uint64_t>(i);
    if (random_unit(11, particle) >= share_of_movers) continue;
    float& x = positions[static_cast<std::size_t>(i)].value[random_word(12, particle) % 3];
    const float shifted = random_word(13, particle) % 2 == 0 ? x + edge : x - edge;
    x = shifted >= -half && shifted <= half ? shifted : x + (x - shifted);
  }
}

tally hash_of(const std::vector<carried_record>& positions, const std::vector<carried_record>& velocities) {
  std::uint64_t hashes = 0;
  const auto last = static_cast<std::int64_t>(positions.size());
#pragma omp parallel for schedule(static) reduction(+ : hashes)
  for (std::int64_t i = 0; i < last; ++i) {
    std::array<std::uint32_t, 8> words{};
    std::memcpy(words.data(), &positions[static_cast<std::size_t>(i)], sizeof(carried_record));
    std::memcpy(words.data() + 4, &velocities[static_cast<std::size_t>(i)], sizeof(carried_record));
    std::uint64_t hash = 0;
    for (std::uint32_t k = 0; k < 8; ++k) hash = hash * 3 + pair_hash(words[k], k);
    hashes += hash;
  }
  return {positions.size(), hashes};
}

/// Whether the particles of each cell are contiguous, in any order of the cells.
bool cells_are_runs(const std::vector<carried_record>& positions, const grid<float, 3>& space) {
  std::vector<bool> seen(space.size(), false);
  const row_major_numbering<3> numbering{space.cells};
  cell_id current = no_particle;
  for (const carried_record& p : positions) {
    const cell_id id = numbering.id(space.cell_of({{p.value[0], p.value[1], p.value[2]}}));
    if (id == current) continue;
    if (seen[id]) return false;
    seen[id] = true;
    current = id;
  }
  return true;
}

std::vector<float> flat(const std::vector<carried_record>& records) {
  std::vector<float> values(records.size() * 4);
  std::memcpy(values.data(), records.data(), records.size() * sizeof(carried_record));
  return values;
}

/// One method with one set of points: velocities, and memory for both arrays in the order of cells.
template <typename Context>
class carry_case {
 public:
  carry_case(const Context& context, const cube& room, const std::vector<float>& positions)
      : people_(context, room, positions, 4),
        velocities_(context, people_.size()),
        carried_{array<carried_record, Context>(context, people_.size()),
                 array<carried_record, Context>(context, people_.size())} {
    const auto values = random_points<float, 4>(people_.size(), 1, 7);
    copy_bytes(context, values.data(), velocities_.data(), values.size() * sizeof(float));
    context.synchronize();
    const auto* given = reinterpret_cast<const carried_record*>(people_.values());
    before_ = hash_of(to_host(context, given, people_.size()), to_host(context, velocities_));
  }

  [[nodiscard]] const Context& context() const { return people_.context(); }
  [[nodiscard]] bool can_carry(std::string_view method) const { return people_.make(method)->carries(); }
  [[nodiscard]] row describe(std::string_view method, std::string_view order) const {
    row identity = people_.describe("carry", method, order);
    identity["carried_bytes"] = 2 * sizeof(carried_record);
    return identity;
  }

  /// Returns the positions in the order of cells.
  std::vector<carried_record> measure(const session& s, std::string_view method, row& out) {
    const auto list = people_.make(method);
    people_.verify(method, *list);
    const auto* positions = reinterpret_cast<const carried_record*>(people_.values());
    const std::array arrays{carry(positions, carried_[0].data()), carry(velocities_.data(), carried_[1].data())};
    const timing measured =
        time_repeated(people_.context(), s.plan(), [&] { list->build_and_carry(people_.points(), arrays); });
    list->check();
    add_timing(out, measured, "inserts_per_s", static_cast<double>(people_.size()));
    out["bytes"] = list->bytes();
    return checked(method);
  }

 private:
  std::vector<carried_record> checked(std::string_view method) const {
    const Context& context = people_.context();
    auto carried = to_host(context, carried_[0]);
    if (!(hash_of(carried, to_host(context, carried_[1])) == before_)) {
      throw disagreement(message(method, " has carried other records than it was given"));
    }
    if (!cells_are_runs(carried, people_.space())) {
      throw disagreement(message(method, " has carried records into an order that is not that of cells"));
    }
    return carried;
  }

  crowd<Context, float> people_;
  array<carried_record, Context> velocities_;
  array<carried_record, Context> carried_[2];
  tally before_;
};

/// First from random memory order, then from the order that this method produced, after some particles have moved.
template <typename Context>
void time_carry(const session& s, carry_case<Context>& random, std::string_view method) {
  std::vector<carried_record> positions;
  s.attempt(random.describe(method, "random"), [&](row& out) { positions = random.measure(s, method, out); });
  if (positions.empty()) return;
  move_some(positions, paper_cube);
  carry_case<Context> steady(random.context(), paper_cube, flat(positions));
  row identity = steady.describe(method, "steady");
  identity["moved"] = share_of_movers;
  s.attempt(identity, [&](row& out) { positions = steady.measure(s, method, out); });
}

}  // namespace

void run_carry(const session& s) {
  const std::vector<std::size_t> sizes = s.full() ? powers_of_two(20, s.on_cuda() ? 24 : 20, 4) : powers_of_two(14, 14);
  with_context(s, [&](const auto& context) {
    for (const std::size_t n : sizes) {
      carry_case random(context, paper_cube, random_points<float, 4>(n, paper_cube.half_side(), n));
      for (const std::string_view method : wanted_cell_lists(s)) {
        if (random.can_carry(method)) time_carry(s, random, method);
      }
    }
  });
}

}  // namespace quadrat::bench
