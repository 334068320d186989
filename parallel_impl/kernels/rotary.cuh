// Rotary position embedding: elements (2i, 2i+1) of a head are a pair (a, b), turned by the angle
// of the token's position and the pair into (a cos - b sin, a sin + b cos).
#pragma once
#include "parallel_impl/kernels/group.cuh"

namespace meshparity {

/// One index a token; in place. A direction of -1 turns back, which is what a gradient does.
template <class T>
struct RotaryTurn {
  T* x;              // [rows, heads * head_dim]
  const T* cosines;  // [sequence, head_dim / 2]
  const T* sines;
  int rows;
  int heads;
  int head_dim;
  int sequence;  // row r is at place r mod sequence of its sample
  T direction;

  int groups() const { return rows; }

  template <Group G>
  MESHPARITY_HD void operator()(const G& group, int row) const {
    const int pairs = head_dim / 2;
    const int angles = row % sequence * pairs;
    for_lanes(group, heads * pairs, [&](int i) {
      T* pair = x + row * heads * head_dim + 2 * i;
      const T a = pair[0];
      const T b = pair[1];
      const T cosine = cosines[angles + i % pairs];
      const T sine = direction * sines[angles + i % pairs];
      pair[0] = a * cosine - b * sine;
      pair[1] = a * sine + b * cosine;
    });
  }
};

}  // namespace meshparity
