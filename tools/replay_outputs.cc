#include "tools/replay_outputs.h"

#include <filesystem>
#include <iterator>
#include <string>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/command.h"

namespace kvsim {
namespace {

namespace fs = std::filesystem;

// A device such as /dev/null may stand for several outputs.
bool SameFile(const std::string& a, const std::string& b) {
  std::error_code error;
  return !b.empty() && !fs::is_character_file(a, error) &&
         (a == b || fs::equivalent(a, b, error));
}

absl::Status OpenFile(const char* flag, const std::string& path,
                      std::unique_ptr<OutputFile>* file) {
  if (path.empty()) return absl::OkStatus();
  absl::StatusOr<std::unique_ptr<OutputFile>> opened = OutputFile::Open(path);
  if (!opened.ok()) {
    return absl::Status(opened.status().code(),
                        absl::StrCat(flag, " ", opened.status().message()));
  }
  *file = *std::move(opened);
  return absl::OkStatus();
}

// No output replaces the trace, or another output.
absl::Status CheckDistinct(const ReplayFlags& flags) {
  const std::pair<const char*, const std::string*> files[] = {
      {"--trace", &flags.trace},
      {"--step-times", &flags.step_times},
      {"--timeline", &flags.timeline},
      {"--chrome-trace", &flags.chrome_trace},
      {"--step-log", &flags.step_log}};
  constexpr size_t kInputs = 2;
  for (size_t i = kInputs; i < std::size(files); ++i) {
    for (size_t k = 0; k < i; ++k) {
      if (files[i].second->empty() ||
          !SameFile(*files[i].second, *files[k].second)) {
        continue;
      }
      return UsageError(absl::StrCat(files[i].first, " and ", files[k].first,
                                     " name the same file, ",
                                     *files[i].second));
    }
  }
  return absl::OkStatus();
}

absl::Status CloseFile(const char* flag, OutputFile* file) {
  if (file == nullptr) return absl::OkStatus();
  const absl::Status status = file->Close();
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat(flag, " ", status.message()));
}

}  // namespace

absl::StatusOr<std::unique_ptr<ReplayOutputs>> ReplayOutputs::Open(
    const ReplayFlags& flags, const vllm::Settings& settings) {
  absl::Status distinct = CheckDistinct(flags);
  if (!distinct.ok()) return distinct;
  std::unique_ptr<ReplayOutputs> outputs(new ReplayOutputs());
  absl::Status status =
      OpenFile("--timeline", flags.timeline, &outputs->timeline_file_);
  status.Update(
      OpenFile("--chrome-trace", flags.chrome_trace, &outputs->chrome_file_));
  status.Update(OpenFile("--step-log", flags.step_log, &outputs->log_file_));
  if (!status.ok()) return status;
  if (outputs->timeline_file_ != nullptr) {
    outputs->timeline_.emplace(outputs->timeline_file_.get(),
                               static_cast<int>(settings.groups.size()));
  }
  if (outputs->chrome_file_ != nullptr) {
    outputs->chrome_trace_.emplace(outputs->chrome_file_.get());
  }
  if (OutputFile* file = outputs->log_file_.get(); file != nullptr) {
    outputs->step_log_.emplace(
        StepLogOptions{.detail = flags.step_log_detail,
                       .cache_stats = settings.enable_prefix_caching},
        [file](const StepLog::Json& line) { file->Write(line.dump() + "\n"); });
  }
  return outputs;
}

void ReplayOutputs::Observe(Simulator* simulator) {
  if (timeline_.has_value()) simulator->AddObserver(&*timeline_);
  if (chrome_trace_.has_value()) simulator->AddObserver(&*chrome_trace_);
  if (step_log_.has_value()) simulator->AddObserver(&*step_log_);
}

absl::Status ReplayOutputs::Finish(const Engine& engine, int64_t now_ns) {
  if (chrome_trace_.has_value()) chrome_trace_->Finish();
  if (step_log_.has_value()) step_log_->Finish(engine, now_ns);
  absl::Status status = CloseFile("--timeline", timeline_file_.get());
  status.Update(CloseFile("--chrome-trace", chrome_file_.get()));
  status.Update(CloseFile("--step-log", log_file_.get()));
  return status;
}

}  // namespace kvsim
