// Takes from a trace what could be traced back, and leaves what a cache sees.
//
// Model:      a reader around a reader. An id becomes the SipHash of its scope
//             and itself under a key made of the salt: equal before, equal
//             after, within a file and between files of one salt; nobody
//             without the salt can tell from an id which prompt it stood for,
//             or match it with ids of another salt. Lengths, order, sessions,
//             priorities and the time between rows stay; the first row arrives
//             at 0. Session names were numbers before this.
// Adds:       ids that nobody shares for the blocks that had none, so that
//             every row has one id per block, the last one for the rest.
// Remains:    lengths and times are a fingerprint of the traffic. Sharing them
//             is the purpose; whoever must hide them cannot use this.
// Source:     the Qwen-Bailian traces are salted in the same way.
#ifndef KVSIM_TRACES_ANONYMISER_H_
#define KVSIM_TRACES_ANONYMISER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "traces/sip_hash.h"
#include "traces/wrapped_reader.h"

namespace kvsim {

class Anonymiser final : public WrappedReader {
 public:
  // REQUIRES: salt is not empty.
  Anonymiser(std::unique_ptr<TraceReader> reader, const std::string& salt);

  absl::StatusOr<bool> Next(TraceRequest* row) override;

 private:
  uint64_t Salted(char kind, uint64_t scope, uint64_t id) const;
  void SaltIds(TraceRequest* row) const;

  SipKey key_;
  std::optional<int64_t> zero_ns_;
};

}  // namespace kvsim

#endif  // KVSIM_TRACES_ANONYMISER_H_
