#include "reference/laws/forward_laws.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "fixtures/step_place.hpp"
#include "reference/laws/operation_laws.hpp"

namespace meshparity::reference {
namespace {

class ForwardLaws {
 public:
  ForwardLaws(LawInputs& inputs, std::vector<Law>& laws)
      : inputs_(inputs),
        model_(inputs.problem.model()),
        places_(model_places(model_, inputs.params())),
        laws_(laws) {}

  void add_all() {
    for (int layer = 0; layer < model_.layers; ++layer) {
      const std::string prefix = fmt::format("layer{}.", layer);
      const BlockPlaces& places = places_.blocks[static_cast<std::size_t>(layer)];
      norm(prefix + "in", prefix + "norm1", places.norm1);
      softmax(prefix, places);
      linear(prefix + "attn.context", prefix + "attn.out", places.out);
      norm(prefix + "attn.residual", prefix + "norm2", places.norm2);
      linear(prefix + "mlp.act", prefix + "mlp.out", places.down);
    }
    norm(fmt::format("layer{}.out", model_.layers - 1), "final_norm", places_.final_norm);
    head();
  }

 private:
  template <class Fill>
  void add(std::string law, std::string record, std::string derivation, Fill fill) {
    add_law(laws_, {std::move(law), record, Phase::forward, inputs_.step(), "", ""},
            [&](Law& each) {
              each.row.derivation = std::move(derivation);
              fill(each.values);
            });
  }
  const std::vector<double>& forward(const std::string& record) {
    return inputs_.candidate.now(Phase::forward, record);
  }
  std::vector<double> bias_of(LinearPlace place) {
    return place.bias ? inputs_.as_read(*place.bias) : std::vector<double>();
  }
  OperationType type(bool stored) const { return {inputs_.spec.precision, stored}; }

  void linear(const std::string& in, const std::string& out, LinearPlace place) {
    add("linear", out, LinearLaw::derivation(), [&](LawValues& values) {
      const std::vector<double>& x = forward(in);
      const std::vector<double> w = inputs_.as_read(place.weight);
      const std::vector<double> b = bias_of(place);
      const auto width = static_cast<std::size_t>(inputs_.params()[place.weight].shape.front());
      const std::size_t columns = w.size() / width;
      const LinearLaw law{type(false)};
      for (std::size_t first = 0; first < x.size(); first += width) {
        for (std::size_t j = 0; j < columns; ++j) {
          const double* const bias = b.empty() ? nullptr : &b[j];
          append(law.element({&x[first], width}, &w[j], columns, bias), values);
        }
      }
    });
  }

  /// logits = x head^T
  void head() {
    add("linear", "logits", LinearLaw::derivation(), [&](LawValues& values) {
      const std::vector<double>& x = forward("final_norm");
      const std::vector<double> w = inputs_.as_read(places_.head);
      const auto width = static_cast<std::size_t>(model_.hidden);
      const LinearLaw law{type(true)};
      for (std::size_t first = 0; first < x.size(); first += width) {
        for (std::size_t row = 0; row < w.size(); row += width) {
          append(law.element({&x[first], width}, &w[row], 1, nullptr), values);
        }
      }
    });
  }

  void norm(const std::string& in, const std::string& out, NormPlace place) {
    add("norm", out, NormLaw::derivation(), [&](LawValues& values) {
      const std::vector<double>& x = forward(in);
      const std::vector<double> w = inputs_.as_read(place.weight);
      const std::vector<double> b = bias_of(place);
      const bool centred = model_.norm == Norm::layernorm;
      const NormLaw law{type(true), model_.norm_epsilon, centred, w, b};
      for (std::size_t first = 0; first < x.size(); first += w.size()) {
        for (const Demand& demand : law.row({&x[first], w.size()})) {
          append(demand, values);
        }
      }
    });
  }

  void softmax(const std::string& prefix, const BlockPlaces& places) {
    add("softmax", prefix + "attn.probs", SoftmaxLaw::derivation(), [&](LawValues& values) {
      const std::vector<double>& q = forward(prefix + "attn.q");
      const std::vector<double>& k = forward(prefix + "attn.k");
      const std::vector<double> sinks =
          model_.attention_sink ? inputs_.as_read(places.sink) : std::vector<double>();
      for (int sample = 0; sample < samples_of_step(model_, inputs_.spec); ++sample) {
        for (int head = 0; head < model_.heads; ++head) {
          const double* const sink =
              sinks.empty() ? nullptr : &sinks[static_cast<std::size_t>(head)];
          rows_of_head({q, k, sample, head}, {type(false), sink}, values);
        }
      }
    });
  }

  struct Head {
    const std::vector<double>& q;  // [B, S, heads, d]
    const std::vector<double>& k;  // [B, S, kv_heads, d]
    int sample, head;
  };
  void rows_of_head(const Head& at, const SoftmaxLaw& law, LawValues& values) const {
    const auto width = static_cast<std::size_t>(model_.head_dim);
    const int group = model_.heads / model_.kv_heads;
    const auto place = [&](int position, int heads, int head) {
      const int token = at.sample * model_.sequence + position;
      return static_cast<std::size_t>(token * heads + head) * width;
    };
    std::vector<const double*> keys;
    for (int query = 0; query < model_.sequence; ++query) {
      keys.push_back(&at.k[place(query, model_.kv_heads, at.head / group)]);
      for (const Demand& demand :
           law.row({&at.q[place(query, model_.heads, at.head)], width}, keys)) {
        append(demand, values);
      }
      for (int later = query + 1; later < model_.sequence; ++later) {
        append_exact(0, values);
      }
    }
  }

  LawInputs& inputs_;
  const ModelSpec& model_;
  ModelPlaces places_;
  std::vector<Law>& laws_;
};

}  // namespace

void add_forward_laws(LawInputs& inputs, std::vector<Law>& laws) {
  ForwardLaws(inputs, laws).add_all();
}

}  // namespace meshparity::reference
