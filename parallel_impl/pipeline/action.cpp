#include "parallel_impl/pipeline/action.hpp"

#include <algorithm>
#include <array>

#include "fixtures/case_rules.hpp"
#include "fixtures/step_place.hpp"

namespace meshparity {
namespace {

/// One stage of a pipeline while its list is written: p stages, m micro-batches.
class Writer {
 public:
  Writer(const Stages& stages, int stage, int micro_batches)
      : chunks_(stages.chunks_of(stage)), p_(stages.count()), r_(stage), m_(micro_batches) {}

  /// Chunk 0 or 1 of the stage.
  void forward(int mb, std::size_t chunk = 0) { add(ActionKind::forward, mb, chunk); }
  void backward(int mb, std::size_t chunk = 0) { add(ActionKind::backward, mb, chunk); }
  void weight(int mb, std::size_t chunk = 0) { add(ActionKind::weight, mb, chunk); }

  void one_after_the_other();
  void gpipe();
  void one_f_one_b();
  void interleaved();
  void zero_bubble_1();
  void zero_bubble_2();
  void zero_bubble_v();

  ActionList take() { return std::move(list_); }

 private:
  void add(ActionKind kind, int mb, std::size_t chunk) {
    list_.push_back({kind, chunks_[chunk], mb});
  }
  bool exists(int mb) const { return mb >= 0 && mb < m_; }

  std::vector<int> chunks_;
  int p_, r_, m_;
  ActionList list_;
};

void Writer::one_after_the_other() {
  for (int mb = 0; mb < m_; ++mb) {
    forward(mb);
    backward(mb);
  }
}

void Writer::gpipe() {
  for (int mb = 0; mb < m_; ++mb) {
    forward(mb);
  }
  for (int mb = 0; mb < m_; ++mb) {
    backward(mb);
  }
}

void Writer::one_f_one_b() {
  const int warm_up = std::min(p_ - 1 - r_, m_);
  for (int mb = 0; mb < warm_up; ++mb) {
    forward(mb);
  }
  for (int k = 0; k < m_ - warm_up; ++k) {
    forward(warm_up + k);
    backward(k);
  }
  for (int mb = m_ - warm_up; mb < m_; ++mb) {
    backward(mb);
  }
}

/// Groups of p micro-batches pass chunk after chunk; backwards the chunks are met last first.
void Writer::interleaved() {
  struct Turn {
    int mb;
    std::size_t chunk;
  };
  std::vector<Turn> turns;
  const std::size_t v = chunks_.size();
  for (int first = 0; first < m_; first += p_) {
    for (std::size_t chunk = 0; chunk < v; ++chunk) {
      for (int mb = first; mb < std::min(first + p_, m_); ++mb) {
        turns.push_back({mb, chunk});
      }
    }
  }
  const int total = static_cast<int>(turns.size());
  const int warm_up = std::min(2 * (p_ - 1 - r_) + (static_cast<int>(v) - 1) * p_, total);
  for (int k = 0; k < total + warm_up; ++k) {
    if (k < total) {
      const Turn& turn = turns[static_cast<std::size_t>(k)];
      forward(turn.mb, turn.chunk);
    }
    if (k >= warm_up) {
      const Turn& turn = turns[static_cast<std::size_t>(k - warm_up)];
      backward(turn.mb, v - 1 - turn.chunk);
    }
  }
}

void Writer::zero_bubble_1() {
  for (int x = 0; x < m_ + p_ - 1; ++x) {
    if (x < m_) {
      forward(x);
    }
    if (const int mb = x - (p_ - 1 - r_); exists(mb)) {
      backward(mb);
    }
    if (const int mb = x - (p_ - 1); exists(mb)) {
      weight(mb);
    }
  }
}

void Writer::zero_bubble_2() {
  for (int x = 0; x < m_ + 2 * (p_ - 1); ++x) {
    if (x < m_) {
      forward(x);
    }
    if (const int mb = x - 2 * (p_ - 1 - r_); exists(mb)) {
      backward(mb);
    }
    if (const int mb = x - 2 * (p_ - 1); exists(mb)) {
      weight(mb);
    }
  }
}

/// Two chunks a stage, the second on the way back; counters are of what is done of each chunk.
void Writer::zero_bubble_v() {
  std::array<int, 2> f = {0, 0}, b = {0, 0}, w = {0, 0};
  const auto F = [&](std::size_t chunk) { forward(f[chunk]++, chunk); };
  const auto B = [&](std::size_t chunk) { backward(b[chunk]++, chunk); };
  const auto W = [&](std::size_t chunk) { weight(w[chunk]++, chunk); };
  for (int k = 0; k < 2 * (p_ - r_) - 1; ++k) {
    F(0);
  }
  for (int k = 0; k < r_; ++k) {
    F(1), F(0);
  }
  for (int k = 0; k < p_ - r_; ++k) {
    F(1), B(1), W(1);
  }
  while (f[1] < f[0] || f[0] < m_) {
    if (f[0] < m_) {
      F(0);
    }
    B(0), W(0), F(1), B(1), W(1);
  }
  for (int k = 0; k < r_; ++k) {
    B(0), B(1);
  }
  for (int k = 0; k < p_ - r_; ++k) {
    B(0), W(0);
  }
  while (w[1] < m_) {
    W(1);
  }
  while (w[0] < m_) {
    W(0);
  }
}

void write(Writer& writer, Schedule schedule) {
  switch (schedule) {
    case Schedule::none:
    case Schedule::naive:
      return writer.one_after_the_other();
    case Schedule::gpipe:
      return writer.gpipe();
    case Schedule::one_f_one_b:
    case Schedule::pipedream:
    case Schedule::pipedream_vsync:
    case Schedule::pipedream_2bw:
      return writer.one_f_one_b();
    case Schedule::interleaved:
      return writer.interleaved();
    case Schedule::zbh1:
      return writer.zero_bubble_1();
    case Schedule::zbh2:
      return writer.zero_bubble_2();
    case Schedule::zbv:
      return writer.zero_bubble_v();
  }
}

void add_update(ActionList& list) {
  list.push_back({ActionKind::reduce, -1, -1});
  list.push_back({ActionKind::step, -1, -1});
}

}  // namespace

std::string_view action_name(ActionKind kind) {
  constexpr std::array<std::string_view, 9> kNames = {
      "F", "B", "W", "send_F", "send_B", "recv_F", "recv_B", "reduce", "step"};
  return kNames[static_cast<std::size_t>(kind)];
}

bool is_pass(ActionKind kind) {
  return kind == ActionKind::forward || kind == ActionKind::backward || kind == ActionKind::weight;
}

bool is_update(ActionKind kind) {
  return kind == ActionKind::reduce || kind == ActionKind::step;
}

bool splits_backward(Schedule schedule) {
  return schedule == Schedule::zbh1 || schedule == Schedule::zbh2 || schedule == Schedule::zbv;
}

int micro_batches_of_list(const CaseSpec& spec) {
  return is_asynchronous(spec.schedule) ? spec.steps * spec.micro_batches : spec.micro_batches;
}

int version_used(const CaseSpec& spec, int stage, int mb) {
  const int behind = spec.mesh.degree(Axis::pp) - 1;
  switch (spec.schedule) {
    case Schedule::pipedream:
      return std::max(0, mb - (behind - stage));
    case Schedule::pipedream_vsync:
      return std::max(0, mb - behind);
    case Schedule::pipedream_2bw:
      return std::max(0, mb / spec.micro_batches - 1);
    default:
      return 0;  // nothing is updated between the first and the last micro-batch of a list
  }
}

ActionList work_of(const CaseSpec& spec, const Stages& stages, int stage) {
  Writer writer(stages, stage, micro_batches_of_list(spec));
  write(writer, spec.schedule);
  ActionList work = writer.take();
  if (!is_asynchronous(spec.schedule)) {
    add_update(work);
    return work;
  }
  const int of_a_step = updates_each_micro_batch(spec.schedule) ? 1 : spec.micro_batches;
  ActionList list;
  for (Action& action : work) {
    action.version = version_used(spec, stage, action.mb);
    list.push_back(action);
    if (action.kind == ActionKind::backward && (action.mb + 1) % of_a_step == 0) {
      add_update(list);
    }
  }
  return list;
}

}  // namespace meshparity
