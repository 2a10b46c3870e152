// What `kvsim compare` prints: two plans side by side and what makes them
// differ, as text for people and as JSON for programs.
//
// JSON schema (additions are free, names and meanings stay):
//   a, b            the sides as typed
//   same_engine     false: no steps, rules instead
//   figures[]       key, name, of ("131,072 tokens"; "": of the plan), unit
//                   (text, bytes, tokens, blocks, requests, count), a, b (null
//                   where that plan has none), difference (b - a of numbers),
//                   equal, steps[] (from 1, that moved it), rule_a, rule_b (of
//                   two engines)
//   steps[]         setting, from, to, rule, source, seen, moves[] of key,
//                   before, after; no moves: no effect here
//   unexplained[]   key, before, after: what no step moved
//   notes_a, notes_b

#ifndef KVSIM_TOOLS_COMPARE_REPORT_H_
#define KVSIM_TOOLS_COMPARE_REPORT_H_

#include <nlohmann/json.hpp>
#include <ostream>
#include <string>

#include "base/text.h"
#include "engines/plan_comparison.h"

namespace kvsim {

struct CompareReport {
  std::string text_a, text_b;  // the sides as typed
  std::string engine_a, engine_b;
  PlanComparison comparison;
  bool all = false;  // equal figures too
  ByteUnits units = ByteUnits::kBinary;
};

void PrintCompareReport(const CompareReport& report, std::ostream& out);
nlohmann::ordered_json CompareReportJson(const CompareReport& report);

}  // namespace kvsim

#endif  // KVSIM_TOOLS_COMPARE_REPORT_H_
