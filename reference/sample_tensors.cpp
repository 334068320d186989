#include "reference/sample_tensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "fixtures/error.hpp"

namespace meshparity::reference {
namespace {

constexpr std::array<std::pair<std::string_view, Matrix BlockTensors::*>, 17> kBlockRecords = {{
    {"in", &BlockTensors::in},
    {"norm1", &BlockTensors::norm1},
    {"attn.q_proj", &BlockTensors::q_proj},
    {"attn.k_proj", &BlockTensors::k_proj},
    {"attn.q", &BlockTensors::q},
    {"attn.k", &BlockTensors::k},
    {"attn.v", &BlockTensors::v},
    {"attn.probs", &BlockTensors::probs},
    {"attn.context", &BlockTensors::context},
    {"attn.out", &BlockTensors::attn_out},
    {"attn.residual", &BlockTensors::residual},
    {"norm2", &BlockTensors::norm2},
    {"mlp.gate", &BlockTensors::gate},
    {"mlp.up", &BlockTensors::up},
    {"mlp.act", &BlockTensors::act},
    {"mlp.out", &BlockTensors::mlp_out},
    {"out", &BlockTensors::out},
}};
constexpr std::array<std::pair<std::string_view, Matrix SampleTensors::*>, 5> kOuterRecords = {{
    {"embed.token", &SampleTensors::embed_token},
    {"embed.sum", &SampleTensors::embed_sum},
    {"final_norm", &SampleTensors::final_norm},
    {"logits", &SampleTensors::logits},
    {"loss.token", &SampleTensors::loss_token},
}};

template <class Owner, std::size_t N>
const Matrix* find_in(const Owner& owner,
                      const std::array<std::pair<std::string_view, Matrix Owner::*>, N>& records,
                      std::string_view name) {
  const auto found = std::find_if(records.begin(), records.end(),
                                  [&](const auto& entry) { return entry.first == name; });
  return found == records.end() ? nullptr : &(owner.*(found->second));
}

/// "layer12.attn.q" names attn.q of blocks[12].
const Matrix* find_in_block(const SampleTensors& tensors, std::string_view record) {
  constexpr std::string_view kLayer = "layer";
  if (!record.starts_with(kLayer)) {
    return nullptr;
  }
  std::size_t layer = 0;
  const char* const end = record.data() + record.size();
  const auto parsed = std::from_chars(record.data() + kLayer.size(), end, layer);
  if (parsed.ec != std::errc() || parsed.ptr == end || layer >= tensors.blocks.size()) {
    return nullptr;
  }
  return find_in(tensors.blocks[layer], kBlockRecords, std::string_view(parsed.ptr + 1, end));
}

BlockTensors block_tensors(const ModelSpec& model) {
  const Matrix hidden = Matrix::Zero(model.sequence, model.hidden);
  const Matrix heads = Matrix::Zero(model.sequence, model.heads * model.head_dim);
  const Matrix key_heads = Matrix::Zero(model.sequence, model.kv_heads * model.head_dim);
  const Matrix pairs = Matrix::Zero(model.heads * model.sequence, model.sequence);
  const Matrix wide = Matrix::Zero(model.sequence, model.ffn);
  BlockTensors block;
  block.in = block.norm1 = block.attn_out = block.residual = hidden;
  block.norm2 = block.mlp_out = block.out = hidden;
  block.q_proj = block.q = block.context = heads;
  block.k_proj = block.k = block.v = key_heads;
  block.scores = block.probs = block.dropped = pairs;
  block.gate = block.up = block.act = wide;
  return block;
}

}  // namespace

SampleTensors::SampleTensors(const ModelSpec& model)
    : embed_token(Matrix::Zero(model.sequence, model.hidden)),
      embed_sum(embed_token),
      blocks(static_cast<std::size_t>(model.layers), block_tensors(model)),
      final_norm(embed_token),
      logits(Matrix::Zero(model.sequence, model.vocabulary)),
      loss_token(Matrix::Zero(1, model.sequence)) {}

const Matrix& named_tensor(const SampleTensors& tensors, std::string_view record) {
  const Matrix* found = find_in(tensors, kOuterRecords, record);
  if (found == nullptr) {
    found = find_in_block(tensors, record);
  }
  if (found == nullptr) {
    throw Error(fmt::format("recording {}: the reference computes no such tensor", record));
  }
  return *found;
}

}  // namespace meshparity::reference
