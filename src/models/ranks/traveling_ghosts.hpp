// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "models/ranks/borders_first.hpp"
#include "models/ranks/exchange.hpp"
#include "parallel/streams/priority_stream.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/distributed/halo.hpp"

namespace quadrat::detail {

/// The ghosts of a rank's particles. They travel in a separate stream, beside the work of the context.
template <typename Context, typename T, int D>
class traveling_ghosts {
 public:
  traveling_ghosts(const Context& context, communicator& ranks, rank_exchange<Context, T, D>& exchange)
      : context_(context), exchange_(exchange), stream_(context), borders_(stream_.context(), ranks) {}

  /// Chooses the ghosts of the own particles, which are in their blocks.
  void choose(const points_view<T, D>& points, const halo_reach<T>& reach) {
    const waiting_time time(exchange_.communication_seconds());
    stream_.wait_for(context_);
    borders_.build(exchange_.space(), exchange_.on_device(), points, reach);
    stream_.make_wait(context_);
  }
  /// Starts to send ghosts, to behind the own elements of all arrays, after the work in stream().
  template <typename... E>
  void send(array<E, Context>&... arrays) {
    const waiting_time time(exchange_.communication_seconds());
    const halo_array all[] = {{arrays.data(), sizeof(E)}...};
    borders_.start_forward(all);
    traveling_ = true;
  }
  /// If ghosts are on their way, makes the context's next work see them.
  void receive() {
    if (!traveling_) return;
    const waiting_time time(exchange_.communication_seconds());
    borders_.finish_forward();
    stream_.make_wait(context_);
    traveling_ = false;
  }
  /// Starts to send ghosts after the context's work so far.
  template <typename... E>
  void fetch(array<E, Context>&... arrays) {
    stream_.wait_for(context_);
    send(arrays...);
    receive();
  }
  /// Calls the body for each own particle; those that are ghosts elsewhere travel while it is called for the others.
  template <typename Body, typename... E>
  void send_first(const char* name, const Body& body, array<E, Context>&... arrays) {
    for_each_borders_first(context_, stream_, name, borders_, body, [&] { send(arrays...); });
  }

  [[nodiscard]] std::size_t number() const { return borders_.ghosts(); }
  [[nodiscard]] const std::uint32_t* copies() const { return borders_.copies(); }
  [[nodiscard]] priority_stream<Context>& stream() { return stream_; }
  [[nodiscard]] std::size_t bytes() const { return borders_.bytes(); }

 private:
  Context context_;
  rank_exchange<Context, T, D>& exchange_;
  priority_stream<Context> stream_;
  halo<Context, T, D> borders_;
  bool traveling_ = false;
};

}  // namespace quadrat::detail
