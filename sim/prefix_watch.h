// When each prefix of one request became hittable, and when it ceased to be.
//
// Model:      for every cache group and every prefix that a key can name, who made
//             it hittable first and last, how many blocks carry it now, and who took
//             the last of them. Events of other requests' keys are passed over.
// Memory:     about 120 B per group and key of the request.
// Costs:      an event is one look-up in a table.
// Determinism: the table is looked up only, never walked.
#ifndef KVSIM_SIM_PREFIX_WATCH_H_
#define KVSIM_SIM_PREFIX_WATCH_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "engines/cache_listener.h"
#include "engines/engine.h"

namespace kvsim {

struct KeyEvent {
  static constexpr int64_t kNever = -1;
  int64_t step = kNever;
  int64_t time_ns = 0;
  RequestId by = -1;

  bool happened() const { return step != kNever; }
};

struct KeyHistory {
  int64_t blocks = 0;  // that carry the key now
  KeyEvent first_keyed, last_keyed;
  KeyEvent gone;  // when the last block of it was taken, the last time

  bool ever() const { return first_keyed.happened(); }
  bool now() const { return blocks > 0; }
};

class PrefixWatch {
 public:
  // Key i of `keys` names the prefix of (i + 1) · key_tokens tokens.
  PrefixWatch(std::span<const uint64_t> keys, int64_t key_tokens,
              int num_groups);

  // The moment of the events that follow.
  void SetMoment(int64_t step, int64_t time_ns);
  void NoteKeyed(RequestId by, int group, uint64_t key);
  void NoteEvicted(RequestId by, int group, uint64_t key);

  // Of the prefix of `tokens` tokens. REQUIRES: a multiple of key_tokens(),
  // positive, at most longest().
  const KeyHistory& Of(int group, int64_t tokens) const;
  // Whether any of the prefixes that would do is hittable now, or ever was.
  bool HasNow(int group, const HitRules::Needed& needed) const;
  bool HadEver(int group, const HitRules::Needed& needed) const;
  // The longest prefix, at most `limit`, of which some group ever had a key.
  int64_t LongestEver(int64_t limit) const;

  int64_t key_tokens() const { return key_tokens_; }
  int64_t longest() const {
    return static_cast<int64_t>(index_.size()) * key_tokens_;
  }
  int num_groups() const { return static_cast<int>(groups_.size()); }

 private:
  KeyHistory* Find(int group, uint64_t key);

  const int64_t key_tokens_;
  int64_t step_ = 0, time_ns_ = 0;
  absl::flat_hash_map<uint64_t, size_t> index_;
  std::vector<std::vector<KeyHistory>> groups_;
};

}  // namespace kvsim

#endif  // KVSIM_SIM_PREFIX_WATCH_H_
