#include "sim/report_json.h"

#include "base/check.h"
#include "google/protobuf/util/json_util.h"

namespace kvsim {

std::string ReportJson(const google::protobuf::Message& report) {
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = true;
  options.preserve_proto_field_names = true;
  options.always_print_primitive_fields = true;
  std::string json;
  const auto status =
      google::protobuf::util::MessageToJsonString(report, &json, options);
  KVSIM_CHECK(status.ok()) << std::string(status.message());
  if (json.empty() || json.back() != '\n') json += '\n';
  return json;
}

}  // namespace kvsim
