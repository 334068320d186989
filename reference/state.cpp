#include "reference/state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "fixtures/error.hpp"

namespace meshparity::reference {
namespace {

const Piece& find_piece(const DumpReader& dump, int step, Phase phase, const std::string& record) {
  const std::vector<Piece>& pieces = dump.pieces();
  const auto found = std::find_if(pieces.begin(), pieces.end(), [&](const Piece& piece) {
    return piece.step == step && piece.phase == phase && piece.record == record;
  });
  if (found == pieces.end()) {
    throw UsageError(fmt::format(
        "the dump of {} holds no {}/{} of step {}; restart from a dump of level standard or all",
        dump.header().case_id, phase_name(phase), record, step));
  }
  return *found;
}

std::vector<Matrix> zeros(const std::vector<ParamSpec>& table) {
  std::vector<Matrix> matrices;
  for (const ParamSpec& param : table) {
    matrices.push_back(zero_matrix(param));
  }
  return matrices;
}

std::vector<Matrix> read_all(const DumpReader& dump, const std::vector<ParamSpec>& table,
                             Phase phase, int step) {
  std::vector<Matrix> matrices = zeros(table);
  for (std::size_t i = 0; i < table.size(); ++i) {
    const std::vector<double> values = dump.read(find_piece(dump, step, phase, table[i].name));
    if (values.size() != static_cast<std::size_t>(matrices[i].size())) {
      throw UsageError(
          fmt::format("the dump of {} holds {}/{} of step {} with {} elements; "
                      "a whole record of {} is needed",
                      dump.header().case_id, phase_name(phase), table[i].name, step, values.size(),
                      matrices[i].size()));
    }
    std::copy(values.begin(), values.end(), matrices[i].data());
  }
  return matrices;
}

Phase parameter_phase(const CaseSpec& spec) {
  return spec.precision == Precision::bf16 ? Phase::master : Phase::param;
}

LossScale read_loss_scale(const DumpReader& dump, int step) {
  LossScale loss_scale;
  for (int earlier = 0; earlier <= step; ++earlier) {
    const Piece& found = find_piece(dump, earlier, Phase::scalar, "found_inf");
    loss_scale.advance(dump.read(found).at(0) != 0);
  }
  return loss_scale;
}

}  // namespace

void LossScale::advance(bool found_inf) {
  if (found_inf) {
    scale /= 2;
    good_steps = 0;
  } else if (++good_steps == kGoodSteps) {
    scale *= 2;
    good_steps = 0;
  }
}

State initial_state(const std::vector<ParamSpec>& table, std::uint64_t seed) {
  State state = {zeros(table), zeros(table), zeros(table), 0};
  for (std::size_t i = 0; i < table.size(); ++i) {
    Matrix& values = state.parameters[i];
    const auto count = static_cast<std::size_t>(values.size());
    initial_values(table, i, seed, 0, std::span(values.data(), count));
  }
  return state;
}

std::vector<Matrix> read_parameters(const DumpReader& dump, const std::vector<ParamSpec>& table,
                                    int step) {
  return read_all(dump, table, parameter_phase(parse_case(dump.header().case_id)), step);
}

State read_state(const DumpReader& dump, const std::vector<ParamSpec>& table,
                 OptimizerKind optimizer, int step) {
  const CaseSpec spec = parse_case(dump.header().case_id);
  State state = {read_parameters(dump, table, step), zeros(table), zeros(table)};
  if (optimizer != OptimizerKind::sgd) {
    state.moment1 = read_all(dump, table, Phase::moment1, step);
  }
  if (optimizer == OptimizerKind::adamw) {
    state.moment2 = read_all(dump, table, Phase::moment2, step);
  }
  const Piece& count = find_piece(dump, step, Phase::exact, "step_count");
  state.steps_taken = dump.read_integers(count).at(0);
  if (spec.loss_scaling) {
    state.loss_scale = read_loss_scale(dump, step);
  }
  return state;
}

Weights make_weights(const State& state) {
  Weights weights;
  for (const Matrix& parameter : state.parameters) {
    weights.emplace_back(parameter);
  }
  return weights;
}

Weights make_noisy_weights(const State& state, const std::vector<ParamSpec>& table,
                           Rounding rounding) {
  Weights weights;
  for (std::size_t i = 0; i < table.size(); ++i) {
    Matrix copy = state.parameters[i];
    if (table[i].tied_to.empty()) {
      rounding.compute_copy(copy);
    } else {
      copy = weights.at(place_of(table, table[i].tied_to)).value;
    }
    Weight weight(std::move(copy));
    if (rounding.rounds_operands() && weight.value.rows() > 1) {
      rounding.operand(weight.value, weight.rounded);
      rounding.operand(weight.value, weight.rounded_transposed);
    }
    weights.push_back(std::move(weight));
  }
  return weights;
}

}  // namespace meshparity::reference
