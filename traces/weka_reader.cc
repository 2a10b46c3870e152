#include "traces/weka_reader.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace kvsim {
namespace {

// A document has to be in memory as a whole.
constexpr size_t kMaxConversationBytes = size_t{1} << 29;

bool IsConversationName(const std::string& name) {
  return absl::EndsWith(name, ".json") || absl::EndsWith(name, ".json.zst");
}

absl::StatusOr<std::vector<std::string>> ConversationFiles(
    const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  std::filesystem::directory_iterator it(folder, error);
  const std::filesystem::directory_iterator end;
  for (; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    if (it->is_regular_file(ignored) &&
        IsConversationName(it->path().filename().string())) {
      paths.push_back(it->path().string());
    }
  }
  if (error) {
    return absl::ErrnoToStatus(
        error.value(), absl::StrCat(folder, ": cannot list the folder"));
  }
  if (paths.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        folder,
        ": found no *.json and no *.json.zst; accepted: a folder of "
        "WEKA conversations, or a file"));
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace

absl::StatusOr<std::unique_ptr<WekaReader>> WekaReader::OpenFile(
    std::unique_ptr<ByteSource> source) {
  auto reader = absl::WrapUnique(new WekaReader());
  if (absl::Status status = reader->AddFile(*source); !status.ok()) {
    return status;
  }
  reader->SortRows();
  return reader;
}

absl::StatusOr<std::unique_ptr<WekaReader>> WekaReader::OpenFolder(
    const std::string& path) {
  const absl::StatusOr<std::vector<std::string>> files =
      ConversationFiles(path);
  if (!files.ok()) return files.status();
  auto reader = absl::WrapUnique(new WekaReader());
  for (const std::string& file : *files) {
    absl::StatusOr<std::unique_ptr<ByteSource>> source = ByteSource::Open(file);
    if (!source.ok()) return source.status();
    if (absl::Status status = reader->AddFile(**source); !status.ok()) {
      return status;
    }
  }
  reader->SortRows();
  return reader;
}

absl::Status WekaReader::AddFile(ByteSource& source) {
  const absl::StatusOr<std::string> text =
      ReadAll(source, kMaxConversationBytes);
  if (!text.ok()) return text.status();
  Conversation conversation;
  conversation.data = ParseWekaConversation(
      *text, TraceProblem{source.path(), 0, "", "", ""}, &bad_);
  conversation.first_session = sessions_;
  sessions_ += conversation.data.sessions;
  conversation.row_ids.resize(conversation.data.turns.size(), -1);
  conversation.ids.resize(static_cast<size_t>(conversation.data.sessions));
  conversations_.push_back(std::move(conversation));
  return absl::OkStatus();
}

void WekaReader::SortRows() {
  for (size_t c = 0; c < conversations_.size(); ++c) {
    const std::vector<WekaTurn>& turns = conversations_[c].data.turns;
    for (size_t t = 0; t < turns.size(); ++t) {
      order_.push_back({turns[t].arrival_ns, static_cast<int32_t>(c),
                        static_cast<int32_t>(t)});
    }
  }
  std::stable_sort(order_.begin(), order_.end(),
                   [](const Position& a, const Position& b) {
                     return a.arrival_ns < b.arrival_ns;
                   });
}

absl::StatusOr<bool> WekaReader::Next(TraceRequest* row) {
  problems_.clear();
  if (next_bad_ < bad_.size()) {
    problems_ = std::move(bad_[next_bad_++]);
    return problems_.front().ToStatus();
  }
  if (next_ == order_.size()) return false;
  Fill(order_[next_], row);
  ++next_;
  return true;
}

void WekaReader::Fill(const Position& position, TraceRequest* row) {
  Conversation& conversation = conversations_[position.conversation];
  WekaTurn& turn = conversation.data.turns[position.turn];
  std::vector<uint64_t>& ids = conversation.ids[turn.session];
  ids.resize(static_cast<size_t>(turn.shared_ids));
  ids.insert(ids.end(), turn.new_ids.begin(), turn.new_ids.end());
  turn.new_ids = {};

  row->id = static_cast<int64_t>(next_);
  row->arrival_ns = turn.arrival_ns;
  row->input_length = turn.input_length;
  row->output_length = turn.output_length;
  row->priority = 0;
  row->hash_block = conversation.data.hash_block;
  row->hash_ids = ids;
  row->scope = static_cast<uint64_t>(position.conversation) + 1;
  row->session = conversation.first_session + turn.session;
  row->turn = turn.turn;
  row->previous = turn.previous < 0 ? -1 : conversation.row_ids[turn.previous];
  row->think_time_ns = turn.think_time_ns;
  conversation.row_ids[position.turn] = row->id;
}

}  // namespace kvsim
