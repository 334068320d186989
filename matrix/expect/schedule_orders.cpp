#include "matrix/expect/schedule_orders.hpp"

#include <algorithm>

#include "matrix/expect/stages.hpp"

namespace meshparity::expect {
namespace {

/// p stages, this one is number r; m micro-batches.
struct Shape {
  int p = 1;
  int r = 0;
  int m = 1;
};

/// Appends actions; micro-batches that there are not are passed over.
class Order {
 public:
  explicit Order(const Shape& shape) : m_(shape.m) {}

  void forward(int mb, int chunk) { add(ActionKind::forward, mb, chunk); }
  void backward(int mb, int chunk) { add(ActionKind::backward, mb, chunk); }
  void weights(int mb, int chunk) { add(ActionKind::weights, mb, chunk); }

  ActionList list;

 private:
  void add(ActionKind kind, int mb, int chunk) {
    if (mb >= 0 && mb < m_) {
      list.push_back({kind, chunk, mb});
    }
  }

  int m_;
};

/// One micro-batch travels alone (§3.2).
ActionList naive(const Shape& shape) {
  Order order(shape);
  for (int i = 0; i < shape.m; ++i) {
    order.forward(i, shape.r);
    order.backward(i, shape.r);
  }
  return order.list;
}

/// All forwards, then all backwards in ascending order (§3.3).
ActionList gpipe(const Shape& shape) {
  Order order(shape);
  for (int i = 0; i < shape.m; ++i) {
    order.forward(i, shape.r);
  }
  for (int i = 0; i < shape.m; ++i) {
    order.backward(i, shape.r);
  }
  return order.list;
}

/// w forwards ahead, then one of each (§3.4).
ActionList one_f_one_b(const Shape& shape) {
  const int w = std::min(shape.p - 1 - shape.r, shape.m);
  Order order(shape);
  for (int i = 0; i < w; ++i) {
    order.forward(i, shape.r);
  }
  for (int k = 0; k < shape.m; ++k) {
    order.forward(w + k, shape.r);
    order.backward(k, shape.r);
  }
  return order.list;
}

/// Groups of p micro-batches go through the stage's v chunks in turn (§3.6, N = p).
ActionList interleaved(const Shape& shape, int v) {
  struct Entry {
    int mb, chunk;
  };
  std::vector<Entry> table;
  for (int first = 0; first < shape.m; first += shape.p) {
    for (int chunk = 0; chunk < v; ++chunk) {
      for (int i = first; i < std::min(first + shape.p, shape.m); ++i) {
        table.push_back({i, chunk});
      }
    }
  }
  const int all = shape.m * v;
  const int w = std::min(2 * (shape.p - 1 - shape.r) + (v - 1) * shape.p, all);
  Order order(shape);
  const auto forward = [&](int k) {
    const Entry& entry = table[static_cast<std::size_t>(k)];
    order.forward(entry.mb, entry.chunk * shape.p + shape.r);
  };
  const auto backward = [&](int k) {
    const Entry& entry = table[static_cast<std::size_t>(k)];
    order.backward(entry.mb, (v - 1 - entry.chunk) * shape.p + shape.r);
  };
  for (int k = 0; k < w; ++k) {
    forward(k);
  }
  for (int k = 0; k < all - w; ++k) {
    forward(w + k);
    backward(k);
  }
  for (int k = all - w; k < all; ++k) {
    backward(k);
  }
  return order.list;
}

/// In round x forward x, the backward `lead` rounds later, its weights another `late` after that:
/// ZB-H1 has lead p - 1 - r and p - 1 rounds in all, ZB-H2 twice as many (§3.7).
ActionList zero_bubble(const Shape& shape, int pace) {
  const int lead = pace * (shape.p - 1 - shape.r);
  const int last = pace * (shape.p - 1);
  Order order(shape);
  for (int x = 0; x < shape.m + last; ++x) {
    order.forward(x, shape.r);
    order.backward(x - lead, shape.r);
    order.weights(x - last, shape.r);
  }
  return order.list;
}

/// Two chunks a stage, down and back up (§3.7, ZB-V). A digit counts what is begun of its chunk.
class TurningOrder {
 public:
  explicit TurningOrder(const Shape& shape) : shape_(shape), order_(shape) {}

  ActionList all() {
    const int after = shape_.p - shape_.r;  // stages from here to the turn, this one included
    times(2 * after - 1, [&] { f(0); });
    times(shape_.r, [&] { f(1), f(0); });
    times(after, [&] { f(1), b(1), w(1); });
    while (f_[1] < f_[0] || f_[0] < shape_.m) {
      if (f_[0] < shape_.m) {
        f(0);
      }
      b(0), w(0), f(1), b(1), w(1);
    }
    times(shape_.r, [&] { b(0), b(1); });
    times(after, [&] { b(0), w(0); });
    times(shape_.m - w_[1], [&] { w(1); });
    times(shape_.m - w_[0], [&] { w(0); });
    return order_.list;
  }

 private:
  template <class Round>
  static void times(int count, const Round& round) {
    for (int i = 0; i < count; ++i) {
      round();
    }
  }

  int chunk(int which) const { return which == 0 ? shape_.r : 2 * shape_.p - 1 - shape_.r; }
  void f(int which) { order_.forward(f_[which]++, chunk(which)); }
  void b(int which) { order_.backward(b_[which]++, chunk(which)); }
  void w(int which) { order_.weights(w_[which]++, chunk(which)); }

  const Shape shape_;
  Order order_;
  int f_[2] = {0, 0}, b_[2] = {0, 0}, w_[2] = {0, 0};
};

}  // namespace

ActionList order_of_stage(const CaseSpec& spec, int stage) {
  const Shape shape{spec.mesh.degree(Axis::pp), stage, micro_batches_of_list(spec)};
  switch (spec.schedule) {
    case Schedule::none:
    case Schedule::naive:
      return naive(shape);
    case Schedule::gpipe:
      return gpipe(shape);
    case Schedule::one_f_one_b:
    case Schedule::pipedream:
    case Schedule::pipedream_vsync:
    case Schedule::pipedream_2bw:
      return one_f_one_b(shape);
    case Schedule::interleaved:
      return interleaved(shape, chunks_per_stage(spec));
    case Schedule::zbh1:
      return zero_bubble(shape, 1);
    case Schedule::zbh2:
      return zero_bubble(shape, 2);
    case Schedule::zbv:
      return TurningOrder(shape).all();
  }
  return {};
}

}  // namespace meshparity::expect
