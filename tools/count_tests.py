"""Counts single test cases of one `bazel test` run.

Usage: count_tests.py EVENTS CODE

EVENTS is the file of Bazel's --build_event_json_file, CODE Bazel's exit code.
Prints the tests that failed and, as the last line, `N passed, N failed`; exits
with 1 unless some passed and none failed.

(Python comes with Debian's Bazel, which depends on it.)
"""

import json
import sys
import urllib.parse
import xml.etree.ElementTree as ElementTree


def read_events(path):
    """The events of a run; a run cut short may end in half a line."""
    events = []
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            try:
                events.append(json.loads(line))
            except ValueError:
                pass
    return events


def test_targets(events):
    """The labels of all tests Bazel meant to run, also of those not built."""
    return {
        event["id"]["targetConfigured"]["label"]
        for event in events
        if event.get("configured", {}).get("targetKind", "").endswith("_test rule")
    }


def test_results(events):
    """Per label the last attempt of each shard: (passed, its XML file)."""
    results = {}
    for event in events:
        key = event.get("id", {}).get("testResult")
        result = event.get("testResult")
        if not key or not result:
            continue
        shards = results.setdefault(key["label"], {})
        shards[key.get("shard", 0)] = (
            result.get("status") == "PASSED",
            xml_file(result.get("testActionOutput", [])),
        )
    return {label: list(shards.values()) for label, shards in results.items()}


def xml_file(outputs):
    for output in outputs:
        if output.get("name") == "test.xml" and "uri" in output:
            return urllib.parse.unquote(urllib.parse.urlparse(output["uri"]).path)
    return None


def count_cases(path):
    """(passed, failed) of one XML record. Skipped and disabled count as neither."""
    passed = failed = 0
    for case in ElementTree.parse(path).iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            failed += 1
        elif (
            case.get("status", "run") == "run"
            and case.get("result", "completed") == "completed"
        ):
            passed += 1
    return passed, failed


def count_shard(ok, path):
    """(passed, failed) of one test program."""
    try:
        passed, failed = count_cases(path)
    except (OSError, TypeError, ElementTree.ParseError):
        passed, failed = (1, 0) if ok else (0, 1)
    # The program failed outside its cases: a crash, a leak, a timeout.
    if not ok and failed == 0:
        failed = 1
    return passed, failed


def main(events_path, bazel_code):
    events = read_events(events_path)
    results = test_results(events)
    passed = failed = 0
    for label in sorted(test_targets(events) | set(results)):
        # A test without a result was not built.
        shards = results.get(label, [(False, None)])
        counts = [count_shard(ok, path) for ok, path in shards]
        target_failed = sum(count[1] for count in counts)
        passed += sum(count[0] for count in counts)
        failed += target_failed
        if target_failed:
            why = "" if label in results else " (not built)"
            print(f"failed: {label}{why}")
    # Bazel refused something that is no test: a library or a BUILD file.
    if bazel_code != 0 and failed == 0:
        print(f"failed: bazel test ended with {bazel_code}")
        failed = 1
    print(f"{passed} passed, {failed} failed")
    return 0 if passed > 0 and failed == 0 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2])))
