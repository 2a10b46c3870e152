#!/bin/bash
# count_tests.py on hand-made records of Bazel and GoogleTest.
set -euo pipefail

count_tests="$PWD/tools/count_tests.py"
# A folder with a space and a percent sign: records carry URIs.
folder="$TEST_TMPDIR/with space%"
mkdir -p "$folder"
cd "$folder"

# Appends the events of test target $1, whose program ended with status $2 and
# left the record $3.
target() {
  echo "{\"id\":{\"targetConfigured\":{\"label\":\"$1\"}},\"configured\":{\"targetKind\":\"cc_test rule\"}}"
  [[ $# -eq 1 ]] && return
  local uri="file://${PWD// /%20}"
  echo "{\"id\":{\"testResult\":{\"label\":\"$1\",\"run\":1,\"shard\":1,\"attempt\":1}},\"testResult\":{\"status\":\"$2\",\"testActionOutput\":[{\"name\":\"test.log\",\"uri\":\"x\"},{\"name\":\"test.xml\",\"uri\":\"${uri//%\//%25/}/$3\"}]}}"
}

# Fails unless count_tests.py on `events` and Bazel's code $1 prints $2 as its
# last line and exits with $3.
expect() {
  local code=0 output
  output="$(python3 "$count_tests" events "$1")" || code=$?
  if [[ "$(tail -n 1 <<<"$output")" != "$2" || "$code" != "$3" ]]; then
    echo "expected \"$2\", exit $3; found exit $code and:"
    echo "$output"
    exit 1
  fi
}

cat >good.xml <<'XML'
<testsuites tests="4"><testsuite name="A">
<testcase name="a" status="run" result="completed" />
<testcase name="b" status="run" result="completed" />
<testcase name="skipped" status="run" result="skipped"><skipped/></testcase>
<testcase name="DISABLED" status="notrun" result="suppressed" />
</testsuite></testsuites>
XML
cat >bad.xml <<'XML'
<testsuites tests="2"><testsuite name="A">
<testcase name="a" status="run" result="completed" />
<testcase name="b" status="run" result="completed">
<failure message="one"/><failure message="two"/></testcase>
</testsuite></testsuites>
XML
echo '<testsuites><testsuite><testca' >cut.xml

target //a:good PASSED good.xml >events
expect 0 "2 passed, 0 failed" 0

target //a:bad FAILED bad.xml >>events
expect 3 "3 passed, 1 failed" 1

# A program that fails behind its last case; one whose record is cut short.
{
  target //a:good PASSED good.xml
  target //a:leaks FAILED good.xml
  target //a:crashes FAILED cut.xml
  target //a:hangs TIMEOUT missing.xml
} >events
expect 3 "4 passed, 3 failed" 1

# A program without a record of its own passes as one.
target //a:plain PASSED missing.xml >events
expect 0 "1 passed, 0 failed" 0

# A test that was not built, and one more program that is fine.
{
  target //a:good PASSED good.xml
  target //a:unbuilt
} >events
expect 1 "2 passed, 1 failed" 1

# Bazel stumbles over something that is no test; nothing runs at all.
target //a:good PASSED good.xml >events
expect 1 "2 passed, 1 failed" 1
: >events
expect 1 "0 passed, 1 failed" 1
expect 0 "0 passed, 0 failed" 1

# Bazel is killed in the middle of an event.
{
  target //a:good PASSED good.xml
  printf '{"id":{"tes'
} >events
expect 137 "2 passed, 1 failed" 1
echo "all as expected"
