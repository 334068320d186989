#include "matrix/checks/tied_copies.hpp"

#include <fmt/format.h>

#include <array>
#include <limits>

#include "matrix/checks/value_place.hpp"

namespace meshparity {
namespace {

bool is_updated(Phase phase) {
  return phase == Phase::param || phase == Phase::master || phase == Phase::moment1 ||
         phase == Phase::moment2;
}

}  // namespace

void TiedCopies::compare(const JudgeContext& context, const RecordEvidence& record,
                         const std::vector<double>& values, CheckResult& result) {
  const ModelSpec& model = context.evidence.model;
  const RecordKey key = record.key();
  if (model.name.empty() || !model.tied_embeddings || !is_updated(key.phase)) {
    return;
  }
  if (key.record == "embed.weight") {
    embedding_[{key.step, key.phase}] = values;
  }
  const auto embedding = embedding_.find({key.step, key.phase});
  if (key.record != "head.weight" || embedding == embedding_.end()) {
    return;
  }
  const std::array<Run, 1> whole_record = {Run{0, record.elements()}};
  result.compared += record.elements();
  if (const auto element = first_unequal_bits<double>(whole_record, values, embedding->second)) {
    const auto place = static_cast<std::size_t>(*element);
    Finding& finding = result.findings.emplace_back(finding_about(record, "replicas"));
    add_place(finding, context.evidence.spec, record, record.copies.front(), *element);
    add_values(finding, embedding->second[place], values[place],
               context.lane ? context.lane->mantissa_bits : kDoubleMantissa);
    finding.ratio = std::numeric_limits<double>::infinity();
    finding.text = fmt::format("embed.weight holds {} at {}, head.weight {}: they are one weight",
                               embedding->second[place], index_text(finding.index), values[place]);
    finding.derivation = "a tied weight is one value, bit for bit";
  }
}

}  // namespace meshparity
