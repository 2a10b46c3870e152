#include "engines/block_size_survey.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/text.h"
#include "engines/block_overhead.h"
#include "engines/capacity.h"
#include "engines/vllm/block_size_rules.h"
#include "engines/vllm/model_planner.h"
#include "engines/vllm/spec_builder.h"

namespace kvsim {
namespace {

constexpr Tokens kMaxBlock{int64_t{1} << 20};

absl::Status CheckScope(const CapacityQuestion& question) {
  if (question.engine != "vllm") {
    return absl::InvalidArgumentError(absl::StrCat(
        "--engine '", question.engine,
        "': block sizes are compared for vllm only; accepted: vllm"));
  }
  if (question.num_gpu_blocks.has_value()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--num-gpu-blocks-override ", question.num_gpu_blocks->value(),
        ": so many blocks are more memory the larger they are; accepted: "
        "memory, as --kv-memory, --gpu or --gpu-memory"));
  }
  return absl::OkStatus();
}

absl::Status CheckSizes(const std::vector<Tokens>& sizes) {
  for (const Tokens size : sizes) {
    if (size < Tokens(1) || size > kMaxBlock) {
      return absl::InvalidArgumentError(
          absl::StrCat("--block-sizes ", size.value(), ": must be from 1 to ",
                       kMaxBlock.value()));
    }
  }
  return absl::OkStatus();
}

vllm::SpecRules RulesOf(const CapacityQuestion& question,
                        const vllm::Resolved& resolved) {
  return {.sm = resolved.sm,
          .platform = question.platform,
          .attention_backend = question.attention_backend,
          .state_mode = resolved.state_mode,
          .state_block = question.state_block};
}

// A layer's state as its group stores it; 0 without any.
Bytes StateOfLayer(const PoolPlan& pool) {
  Bytes state(0);
  for (const CacheGroup& group : pool.groups) {
    if (!HoldsStates(group) || group.num_tensors == 0) continue;
    state = std::max(state, group.used / group.num_tensors);
  }
  return state;
}

// States alone have no rows to cut into blocks.
absl::Status CheckAttention(const CapacityQuestion& question,
                            const PoolPlan& pool) {
  for (const CacheGroup& group : pool.groups) {
    if (!HoldsStates(group)) return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--model ", question.model->name,
                   ": no layer has attention, whose rows blocks are made of"));
}

// The least multiple of `kernel` whose attention page holds a state, given a plan
// with any block; none without states or without attention beside them.
std::optional<Tokens> TightestBlock(const PoolPlan& pool, Tokens kernel) {
  const Bytes state = StateOfLayer(pool);
  if (state == Bytes(0)) return std::nullopt;
  const auto rows =
      std::find_if(pool.groups.begin(), pool.groups.end(), KeepsEveryRow);
  if (rows == pool.groups.end()) return std::nullopt;
  const Bytes row = rows->page / rows->demand.block_tokens.value();
  if (row == Bytes(0)) return std::nullopt;
  return RoundUp(Tokens(CeilDiv(state, row)), kernel);
}

// Why attention's block is not what was asked.
std::string WhyOther(const SurveyedBlockSize& size) {
  if (size.block == size.asked) return "";
  const Bytes state = StateOfLayer(size.answer.pool);
  const std::string becomes =
      absl::StrCat("becomes ", FormatCount(size.block.value()));
  if (state == Bytes(0)) {
    return absl::StrCat(becomes,
                        ": windows take the least block of the kernels");
  }
  return absl::StrCat(becomes, ": attention's page grows until it holds the ",
                      FormatCount(state.value()), " B state of a layer");
}

std::string Joined(const std::string& first, const std::string& second) {
  return absl::StrCat(first, first.empty() || second.empty() ? "" : "; ",
                      second);
}

void Refuse(std::string why, SurveyedBlockSize& size) {
  size.accepted = false;
  size.note = std::move(why);
}

void Plan(CapacityQuestion question, const vllm::Resolved& resolved,
          SurveyedBlockSize& size) {
  question.block_size = size.asked;
  absl::StatusOr<CapacityAnswer> answer = AnswerCapacity(question);
  if (!answer.ok()) {
    return Refuse(std::string(answer.status().message()), size);
  }
  size.answer = *std::move(answer);
  const PoolPlan& pool = size.answer.pool;
  size.block = pool.block_tokens;
  size.hit_unit = pool.scheduler_block_tokens;
  size.padding = PaddingOfRequest(pool, size.answer.contexts[0].count.length);
  size.table =
      BlockTableBytes(pool, resolved.state_mode, question.speculative_tokens,
                      size.answer.max_num_seqs);
  size.note = Joined(size.note, WhyOther(size));
  if (pool.refused.has_value()) {
    Refuse(absl::StrCat("does not start: ", pool.refused->message), size);
  }
}

}  // namespace

absl::StatusOr<BlockSizeSurvey> SurveyBlockSizes(
    const CapacityQuestion& question, std::vector<Tokens> sizes) {
  absl::Status status = CheckScope(question);
  if (status.ok()) status = CheckSizes(sizes);
  if (!status.ok()) return status;
  // Errors that no size is to blame for.
  CapacityQuestion unasked = question;
  unasked.block_size.reset();
  const absl::StatusOr<CapacityAnswer> answer = AnswerCapacity(unasked);
  if (!answer.ok()) return answer.status();
  status = CheckAttention(question, answer->pool);
  if (!status.ok()) return status;
  const absl::StatusOr<vllm::Resolved> resolved = vllm::ResolveFlags(question);
  if (!resolved.ok()) return resolved.status();
  if (resolved->switches.previous_engine) {
    return absl::InvalidArgumentError(
        "--engine-version: block sizes are compared for vLLM's V1 engine, and "
        "this version runs V0");
  }

  const vllm::SpecRules rules = RulesOf(question, *resolved);
  const Tokens chosen = vllm::DefaultBlockTokens(resolved->model, rules);
  sizes.push_back(chosen);
  if (question.block_size.has_value()) sizes.push_back(*question.block_size);
  const std::optional<Tokens> tightest = TightestBlock(
      answer->pool, vllm::KernelBlockTokens(resolved->model, rules));
  if (tightest.has_value() && *tightest <= kMaxBlock) {
    sizes.push_back(*tightest);
  }
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());

  BlockSizeSurvey survey;
  survey.length = answer->contexts[0].count.length;
  survey.prefix_caching = resolved->prefix_caching;
  if (vllm::HasRecurrentState(resolved->model)) {
    survey.state_mode = resolved->state_mode;
  }
  for (const Tokens asked : sizes) {
    SurveyedBlockSize size = {.asked = asked, .is_default = asked == chosen};
    const vllm::BlockSizeVerdict verdict =
        vllm::JudgeBlockSize(resolved->model, rules, asked);
    size.note = verdict.why;
    size.accepted = verdict.accepted;
    if (verdict.accepted) Plan(question, *resolved, size);
    survey.sizes.push_back(std::move(size));
  }
  return survey;
}

}  // namespace kvsim
