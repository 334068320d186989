// What is in flight on a stage as its list of actions goes on (algorithms.md §3.1, §11.2): how many
// (chunk, micro-batch) pairs hold something, and the most bytes that they hold together.
#pragma once
#include <cstdint>
#include <vector>

#include "matrix/expect/schedule.hpp"

namespace meshparity::expect {

/// Something that a (chunk, micro-batch) pair holds: allocated where `from` begins, given back
/// where `until` ends. `bytes` by chunk of the whole pipeline.
struct Holding {
  ActionKind from = ActionKind::forward;
  ActionKind until = ActionKind::backward;
  std::vector<std::int64_t> bytes;
};

/// The most that all holdings together come to at one moment of the list. Activations of level B
/// are held from F to B, those of level W from F to W (unsplit schedules: to B), output gradients
/// kept for W from B to W.
std::int64_t peak_held(const ActionList& list, const std::vector<Holding>& holdings);
/// What is still held when the list has ended; 0 of a whole one.
std::int64_t left_held(const ActionList& list, const std::vector<Holding>& holdings);

/// The most versions of the weights that are there at one time: the newest, and every older one
/// that work later in the list reads.
int peak_versions(const ActionList& list);

}  // namespace meshparity::expect
