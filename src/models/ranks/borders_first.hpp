// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "parallel/streams/priority_stream.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/distributed/communicator.hpp"
#include "quadrat/distributed/halo.hpp"
#include "quadrat/parallel/for_each.hpp"

namespace quadrat::detail {

template <typename Body>
struct for_some {
  Body body;
  const std::uint32_t* some;

  QUADRAT_HD void operator()(std::size_t i) const { body(some[i]); }
};

template <typename Body>
struct for_those_without_copies {
  Body body;
  const std::uint32_t* copies;

  QUADRAT_HD void operator()(std::size_t i) const {
    if (copies[i] == 0) body(i);
  }
};

/// Whether messages take so long that it pays to compute the traveling particles first. Not between GPUs that write
/// into each other's memory: two H100 exchange the ghosts of a step in 20 to 30 us, and splitting the particles costs
/// as much or more (notes/ranks.md).
template <typename Context>
[[nodiscard]] bool worth_hiding_messages(const communicator& ranks) {
  return ranks.size() > 1 && (std::is_same_v<Context, cpu_context> || ranks.name() != "threads");
}

/// Computes the particles that are ghosts elsewhere in `stream`, sends them, and computes the rest while these travel:
/// borders(context), rest(), send().
template <typename Context, typename Borders, typename Rest, typename Send>
void do_borders_first(const Context& context, priority_stream<Context>& stream, const Borders& borders,
                      const Rest& rest, const Send& send) {
  stream.wait_for(context);
  borders(stream.context());
  if constexpr (std::is_same_v<Context, cpu_context>) {
    send();
    rest();
  } else {
    // The device has work while ranks communicate.
    rest();
    stream.make_wait(context);
    send();
  }
}

/// The same for a body that is called for each own particle. `borders` works in `stream`.
template <typename Context, typename T, int D, typename Body, typename Send>
void for_each_borders_first(const Context& context, priority_stream<Context>& stream, const char* name,
                            const halo<Context, T, D>& borders, const Body& body, const Send& send) {
  do_borders_first(
      context, stream,
      [&](const Context& first) {
        for_each(first, name, borders.bordering().size(), for_some<Body>{body, borders.bordering().data()});
      },
      [&] {
        for_each(context, name, borders.own(), for_those_without_copies<Body>{body, borders.copies()});
      },
      send);
}

}  // namespace quadrat::detail
