// Reads Mooncake JSONL, one request a line (mooncake_row.h).
//
// Accepted:   CRLF, no final newline, empty lines (skipped), lines up to 256
//             MiB, unknown fields. Refused: rows out of time order (unless
//             allowed); sessions that the first row does not announce.
// Errors:     every problem of a line is in problems(); after a bad line the
//             next call goes on with the line behind it.
#ifndef KVSIM_TRACES_MOONCAKE_READER_H_
#define KVSIM_TRACES_MOONCAKE_READER_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "traces/byte_source.h"
#include "traces/line_reader.h"
#include "traces/mooncake_row.h"
#include "traces/trace_reader.h"

namespace kvsim {

class MooncakeReader final : public TraceReader {
 public:
  static absl::StatusOr<std::unique_ptr<MooncakeReader>> Open(
      std::unique_ptr<ByteSource> source, bool allow_disorder = false);

  absl::StatusOr<bool> Next(TraceRequest* row) override;
  std::span<const TraceProblem> problems() const override { return problems_; }
  bool can_continue() const override { return can_continue_; }
  TraceFormat format() const override { return TraceFormat::kMooncake; }
  bool has_sessions() const override { return has_sessions_; }

 private:
  struct Session {
    int64_t number;
    int64_t last_id;
    int64_t turns;
  };

  MooncakeReader(std::unique_ptr<ByteSource> source, bool allow_disorder);
  absl::StatusOr<bool> NextLine();
  void Decode(TraceRequest* row);
  void CheckOrder(const TraceRequest& row);
  TraceProblem Place() const;
  void FollowSession(TraceRequest* row);

  LineReader lines_;
  bool allow_disorder_;
  absl::string_view line_;
  bool line_is_held_ = false;  // line_ was read ahead and not decoded yet
  bool has_sessions_ = false;
  bool can_continue_ = false;
  int64_t next_id_ = 0;
  int64_t last_arrival_ns_ = 0;
  MooncakeRowDecoder decoder_;
  MooncakeSession row_session_;  // of the row just decoded
  std::vector<TraceProblem> problems_;
  absl::flat_hash_map<std::string, Session> sessions_;
};

}  // namespace kvsim

#endif  // KVSIM_TRACES_MOONCAKE_READER_H_
