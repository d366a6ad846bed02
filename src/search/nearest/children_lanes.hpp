// SPDX-License-Identifier: BSD-3-Clause

// Included by children_host.cpp for each instruction set, named QUADRAT_CHILDREN_SET and compiled for
// QUADRAT_CHILDREN_TARGET; hence no include guard.

template <typename T, int D>
QUADRAT_CHILDREN_TARGET unsigned QUADRAT_CHILDREN_SET(const nearest_node<T, D>& node,
                                                      const nearest_target<T, D>& target, likely_children<T>& result) {
  using numbers = typename cpu_vector<T, nearest_width>::type;
  using anywhere = typename cpu_vector<T, nearest_width>::anywhere;
  using places = decltype(numbers{} < numbers{});
  constexpr T most = std::numeric_limits<T>::max();
  numbers squared{}, farthest{};
  for (int axis = 0; axis < D; ++axis) {
    const T translation = target.translation[axis];
    const numbers low = *reinterpret_cast<const anywhere*>(node.low[axis]);
    const numbers high = *reinterpret_cast<const anywhere*>(node.high[axis]);
    const numbers above = (low - target.last[axis]) + translation;
    const numbers below = -((high - target.first[axis]) + translation);
    const numbers largest = above > below ? above : below;
    const numbers length = largest > 0 ? largest : numbers{};
    squared = axis == 0 ? length * length : squared + length * length;
    const numbers to_low = (low - target.middle[axis]) + translation;
    const numbers to_high = (high - target.middle[axis]) + translation;
    const numbers down = to_low < 0 ? -to_low : to_low;
    const numbers up = to_high < 0 ? -to_high : to_high;
    const numbers corner = down > up ? down : up;
    farthest = axis == 0 ? corner * corner : farthest + corner * corner;
  }
  places accepted{};
  for (unsigned k = 0; k < nearest_width; ++k) {
    numbers from_position{};
    for (int axis = 0; axis < D; ++axis) {
      const numbers low = *reinterpret_cast<const anywhere*>(node.low[axis]);
      const numbers high = *reinterpret_cast<const anywhere*>(node.high[axis]);
      const numbers above = (low - target.at[axis][k]) + target.translation[axis];
      const numbers below = -((high - target.at[axis][k]) + target.translation[axis]);
      const numbers largest = above > below ? above : below;
      const numbers length = largest > 0 ? largest : numbers{};
      from_position = axis == 0 ? length * length : from_position + length * length;
    }
    accepted |= from_position <= target.worst[k];
  }
  accepted &= squared <= most;
  // Children that are not accepted come last.
  const numbers nearest = accepted ? squared : numbers{} + std::numeric_limits<T>::infinity();
  places number{};
  for (int child = 0; child < static_cast<int>(nearest_width); ++child) number[child] = child;
  places rank{};
  for (unsigned other = 0; other < nearest_width; ++other) {
    const numbers its = numbers{} + nearest[other], its_farthest = numbers{} + farthest[other];
    const places as_far = (its_farthest < farthest) | ((its_farthest == farthest) & (number > static_cast<int>(other)));
    rank -= (its < nearest) | ((its == nearest) & as_far);
  }
  *reinterpret_cast<anywhere*>(result.squared) = squared;
  unsigned count = 0;
  for (unsigned child = 0; child < nearest_width; ++child) {
    result.child[rank[child]] = static_cast<std::uint8_t>(child);
    count += accepted[child] != 0 ? 1 : 0;
  }
  return count;
}

#undef QUADRAT_CHILDREN_SET
#undef QUADRAT_CHILDREN_TARGET
