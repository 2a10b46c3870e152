// A report as one JSON object.
#ifndef KVSIM_SIM_REPORT_JSON_H_
#define KVSIM_SIM_REPORT_JSON_H_

#include <string>

#include "google/protobuf/message.h"

namespace kvsim {

// protobuf JSON with the field names of the .proto file, every field present,
// 64-bit integers as strings, indented, with a final newline.
std::string ReportJson(const google::protobuf::Message& report);

}  // namespace kvsim

#endif  // KVSIM_SIM_REPORT_JSON_H_
