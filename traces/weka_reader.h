// Reads one WEKA conversation, or a folder of them merged by time.
//
// Model:      each file is one id scope, numbered from 1 in order of file
//             names; all conversations start at time 0. Rows come by arrival;
//             equal arrivals by file name, then by position in the file.
// Accepted:   in a folder the files *.json and *.json.zst; others are passed
//             over.
// Costs:      everything is parsed at opening, file by file; kept are the turns
//             in the compact form of weka_conversation.h and the ids of each
//             session's latest turn.
// Errors:     problems of the files come first, one bad entry per Next.
#ifndef KVSIM_TRACES_WEKA_READER_H_
#define KVSIM_TRACES_WEKA_READER_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "traces/byte_source.h"
#include "traces/trace_reader.h"
#include "traces/weka_conversation.h"

namespace kvsim {

class WekaReader final : public TraceReader {
 public:
  static absl::StatusOr<std::unique_ptr<WekaReader>> OpenFile(
      std::unique_ptr<ByteSource> source);
  static absl::StatusOr<std::unique_ptr<WekaReader>> OpenFolder(
      const std::string& path);

  absl::StatusOr<bool> Next(TraceRequest* row) override;
  std::span<const TraceProblem> problems() const override { return problems_; }
  bool can_continue() const override { return !problems_.empty(); }
  TraceFormat format() const override { return TraceFormat::kWeka; }
  bool has_sessions() const override { return true; }

 private:
  struct Conversation {
    WekaConversation data;
    std::vector<int64_t> row_ids;            // by turn, once it was given
    std::vector<std::vector<uint64_t>> ids;  // by session: its latest turn's
    int64_t first_session = 0;
  };
  struct Position {
    int64_t arrival_ns;
    int32_t conversation;
    int32_t turn;
  };

  WekaReader() = default;
  absl::Status AddFile(ByteSource& source);
  void SortRows();
  void Fill(const Position& position, TraceRequest* row);

  std::vector<Conversation> conversations_;
  std::vector<Position> order_;
  size_t next_ = 0;
  int64_t sessions_ = 0;
  ProblemGroups bad_;  // of all files
  size_t next_bad_ = 0;
  std::vector<TraceProblem> problems_;
};

}  // namespace kvsim

#endif  // KVSIM_TRACES_WEKA_READER_H_
