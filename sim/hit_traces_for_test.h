// Hit traces written by hand, for tests.
#ifndef KVSIM_SIM_HIT_TRACES_FOR_TEST_H_
#define KVSIM_SIM_HIT_TRACES_FOR_TEST_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "sim/hits.h"
#include "sim/vector_trace_reader.h"

namespace kvsim {

// A prompt in hash blocks of 8 tokens.
inline TraceRequest Prompt(int64_t input_length, std::vector<uint64_t> ids) {
  TraceRequest row;
  row.input_length = input_length;
  row.output_length = 1;
  row.hash_block = 8;
  row.hash_ids = std::move(ids);
  return row;
}

inline HitTrace ReadHitRows(std::vector<TraceRequest> rows, PartialTail tail,
                            int64_t block_tokens) {
  VectorTraceReader reader(std::move(rows));
  auto trace = HitTrace::Read(&reader, {.partial_tail = tail}, block_tokens);
  EXPECT_TRUE(trace.ok()) << trace.status();
  return *std::move(trace);
}

}  // namespace kvsim

#endif  // KVSIM_SIM_HIT_TRACES_FOR_TEST_H_
