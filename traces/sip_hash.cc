#include "traces/sip_hash.h"

#include <bit>

namespace kvsim {
namespace {

struct State {
  uint64_t v0, v1, v2, v3;

  void Round() {
    v0 += v1;
    v2 += v3;
    v1 = std::rotl(v1, 13) ^ v0;
    v3 = std::rotl(v3, 16) ^ v2;
    v0 = std::rotl(v0, 32);
    v2 += v1;
    v0 += v3;
    v1 = std::rotl(v1, 17) ^ v2;
    v3 = std::rotl(v3, 21) ^ v0;
    v2 = std::rotl(v2, 32);
  }
  void Absorb(uint64_t word) {
    v3 ^= word;
    Round();
    Round();
    v0 ^= word;
  }
};

// Up to eight bytes, the first one lowest.
uint64_t Word(absl::string_view bytes) {
  uint64_t word = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    word |= uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  }
  return word;
}

}  // namespace

uint64_t SipHash(const SipKey& key, absl::string_view bytes) {
  State state = {key.low ^ 0x736f6d6570736575, key.high ^ 0x646f72616e646f6d,
                 key.low ^ 0x6c7967656e657261, key.high ^ 0x7465646279746573};
  const uint64_t length = bytes.size();
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) {
    state.Absorb(Word(bytes.substr(0, 8)));
  }
  state.Absorb(Word(bytes) | (length << 56));
  state.v2 ^= 0xff;
  for (int i = 0; i < 4; ++i) state.Round();
  return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}

}  // namespace kvsim
