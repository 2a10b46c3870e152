// `--backend` of a replay: its page operations performed.

#ifndef KVSIM_TOOLS_REPLAY_PAGING_H_
#define KVSIM_TOOLS_REPLAY_PAGING_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/paging_backend.h"
#include "sim/page_op_stream.h"
#include "sim/report.pb.h"
#include "tools/replay_flags.h"
#include "tools/replay_setup.h"

namespace kvsim {

// The backend of --backend with the run's pools.
class ReplayPaging {
 public:
  // Null without --backend. InvalidArgument names the flag; Unavailable says why a
  // device does not serve.
  static absl::StatusOr<std::unique_ptr<ReplayPaging>> Make(
      const ReplayFlags& flags, const ReplaySetup& setup);

  PageOpStream& stream() { return *stream_; }
  // REQUIRES: the run has ended.
  void Fill(Report* report) const;

 private:
  ReplayPaging() = default;

  std::vector<PoolShape> modelled_;
  std::unique_ptr<PagingBackend> backend_;
  std::unique_ptr<PageOpStream> stream_;
};

}  // namespace kvsim

#endif  // KVSIM_TOOLS_REPLAY_PAGING_H_
