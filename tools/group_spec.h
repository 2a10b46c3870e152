// Cache groups as people type them: "full;mamba*3", "swa:1024*5;full/32".
//
// Model:   groups are separated by ';' or '+', each KIND[:TOKENS][/BLOCK][*COUNT]. KIND is
//          full, swa (sliding window), chunked, mamba (any recurrent state) or cross;
//          TOKENS is the window, the chunk or the encoder's length, which those
//          kinds need and the others do not have; BLOCK is the group's block, else
//          --block-size; COUNT groups are alike.

#ifndef KVSIM_TOOLS_GROUP_SPEC_H_
#define KVSIM_TOOLS_GROUP_SPEC_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engines/state_mode.h"
#include "engines/vllm/cache_group.h"
#include "engines/vllm/settings.h"

namespace kvsim {

// Blocks, lengths and caching come from `settings`: without caching a state is one
// block as long as the longest request. Bytes are left at one a row.
// Errors: InvalidArgument naming the group and what is accepted.
absl::StatusOr<std::vector<vllm::CacheGroup>> ParseGroups(
    absl::string_view text, StateMode mode, const vllm::Settings& settings);

// The same groups in words: "full/16;recurrent/16*3".
std::string GroupsInWords(const std::vector<vllm::CacheGroup>& groups);

}  // namespace kvsim

#endif  // KVSIM_TOOLS_GROUP_SPEC_H_
