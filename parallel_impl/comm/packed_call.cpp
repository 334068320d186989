#include "parallel_impl/comm/packed_call.hpp"

#include <cstring>
#include <string>
#include <string_view>

#include "fixtures/error.hpp"

namespace meshparity {
namespace {

class Packer {
 public:
  void number(std::int64_t value) { append(&value, sizeof value); }
  void numbers(const std::vector<std::int64_t>& values) {
    number(static_cast<std::int64_t>(values.size()));
    append(values.data(), values.size() * sizeof(std::int64_t));
  }
  void text(std::string_view value) {
    number(static_cast<std::int64_t>(value.size()));
    append(value.data(), value.size());
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  void append(const void* from, std::size_t size) {
    const auto* const begin = static_cast<const std::byte*>(from);
    bytes_.insert(bytes_.end(), begin, begin + size);
  }
  std::vector<std::byte> bytes_;
};

class Unpacker {
 public:
  explicit Unpacker(std::span<const std::byte> bytes) : left_(bytes) {}
  std::int64_t number() {
    std::int64_t value = 0;
    copy(&value, sizeof value);
    return value;
  }
  std::vector<std::int64_t> numbers() {
    std::vector<std::int64_t> values(count(sizeof(std::int64_t)));
    copy(values.data(), values.size() * sizeof(std::int64_t));
    return values;
  }
  std::string text() {
    std::string value(count(1), '\0');
    copy(value.data(), value.size());
    return value;
  }
  bool at_end() const { return left_.empty(); }

 private:
  std::size_t count(std::size_t width) {
    const std::int64_t size = number();
    require(size >= 0 && static_cast<std::size_t>(size) <= left_.size() / width);
    return static_cast<std::size_t>(size);
  }
  void copy(void* to, std::size_t size) {
    require(size <= left_.size());
    if (size > 0) {
      std::memcpy(to, left_.data(), size);
      left_ = left_.subspan(size);
    }
  }
  static void require(bool holds) {
    if (!holds) {
      throw Error("reading what another rank says of its call: the bytes are cut short");
    }
  }
  std::span<const std::byte> left_;
};

void pack_payload(Packer& packer, const Payload& payload) {
  packer.number(payload.count);
  packer.number(static_cast<std::int64_t>(payload.type));
}

Payload unpack_payload(Unpacker& unpacker) {
  Payload payload;
  payload.count = unpacker.number();
  payload.type = static_cast<ElementType>(unpacker.number());
  return payload;
}

void pack_site(Packer& packer, const Site& site) {
  packer.number(site.layer);
  packer.text(site.role);
  packer.text(site.phase);
  packer.number(site.step);
  packer.number(site.mb);
}

Site unpack_site(Unpacker& unpacker) {
  Site site;
  site.layer = static_cast<int>(unpacker.number());
  site.role = unpacker.text();
  site.phase = unpacker.text();
  site.step = static_cast<int>(unpacker.number());
  site.mb = static_cast<int>(unpacker.number());
  return site;
}

void pack_group(Packer& packer, const CommGroup& group) {
  packer.text(group.axis);
  packer.numbers({group.ranks.begin(), group.ranks.end()});
  packer.number(group.index);
}

CommGroup unpack_group(Unpacker& unpacker) {
  CommGroup group;
  group.axis = unpacker.text();
  for (const std::int64_t rank : unpacker.numbers()) {
    group.ranks.push_back(static_cast<int>(rank));
  }
  group.index = static_cast<int>(unpacker.number());
  return group;
}

}  // namespace

std::vector<std::byte> pack_call(const Collective& request, const CollectiveRow& row) {
  Packer packer;
  packer.number(static_cast<std::int64_t>(request.kind));
  packer.number(static_cast<std::int64_t>(request.op));
  packer.number(request.peer);
  packer.number(row.sequence);
  pack_group(packer, request.group);
  pack_site(packer, request.site);
  pack_payload(packer, request.input);
  pack_payload(packer, request.output);
  packer.numbers(request.input_parts);
  packer.numbers(request.output_parts);
  packer.number(request.clock == nullptr ? 0 : *request.clock);
  return packer.take();
}

UnpackedCall unpack_call(std::span<const std::byte> bytes) {
  Unpacker unpacker(bytes);
  UnpackedCall call;
  Collective& request = call.request;
  request.kind = static_cast<CollectiveKind>(unpacker.number());
  request.op = static_cast<ReduceOp>(unpacker.number());
  request.peer = static_cast<int>(unpacker.number());
  const std::int64_t sequence = unpacker.number();
  request.group = unpack_group(unpacker);
  request.site = unpack_site(unpacker);
  request.input = unpack_payload(unpacker);
  request.output = unpack_payload(unpacker);
  request.input_parts = unpacker.numbers();
  request.output_parts = unpacker.numbers();
  call.clock = unpacker.number();
  if (!unpacker.at_end()) {
    throw Error("reading what another rank says of its call: bytes are left over");
  }
  call.row = ledger_row(request);
  call.row.sequence = sequence;
  return call;
}

}  // namespace meshparity
