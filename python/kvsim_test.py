"""Tests of the kvsim module, mostly against the command's own answers."""

import csv
import gc
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import numpy as np

import kvsim

COMMAND = "tools/kvsim"
TRACE = "traces/sample/agents.jsonl"
# The question of the README: 48 agents on 28 GiB.
MEMORY = {"model": "llama-3.1-8b", "kv_memory": "28GiB"}


def run_command(*arguments):
    return subprocess.run(
        [COMMAND, *arguments], capture_output=True, text=True, check=False
    )


def ask_command(*arguments):
    """What `kvsim ARGUMENTS --json` prints."""
    done = run_command(*arguments, "--json")
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


def row(input_length, output_length):
    """Of a Mooncake trace, with one block that all rows share."""
    return {
        "timestamp": 0,
        "input_length": input_length,
        "output_length": output_length,
        "hash_ids": [1],
    }


def write_trace(folder, rows):
    path = os.path.join(folder, "trace.jsonl")
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    return path


class CommandCase(unittest.TestCase):
    def assert_same(self, printed, answer, place="$"):
        """`answer` is what was printed, or an int where that is its text."""
        if isinstance(printed, dict):
            self.assertEqual(list(printed), list(answer), place)
            for name in printed:
                if name != "wall_ns":
                    self.assert_same(printed[name], answer[name], f"{place}.{name}")
        elif isinstance(printed, list):
            self.assertEqual(len(printed), len(answer), place)
            for i, pair in enumerate(zip(printed, answer)):
                self.assert_same(*pair, f"{place}[{i}]")
        elif isinstance(printed, str) and isinstance(answer, int):
            self.assertEqual(printed, str(answer), place)
        else:
            self.assertEqual((type(printed), printed), (type(answer), answer), place)


class SameAsTheCommandTest(CommandCase):
    def test_layout(self):
        printed = ask_command(
            "layout", "--model", "deepseek-v4-flash", "--context", "128K,1048576"
        )
        answer = kvsim.layout("deepseek-v4-flash", contexts=["128K", 2**20])
        self.assert_same(printed, answer)

    def test_capacity(self):
        printed = ask_command(
            *("capacity", "--model", "kimi-linear-48b", "--context", "1M"),
            *("--gpu", "H200", "--tensor-parallel-size", "2"),
            *("--gpu-memory-utilization", "0.9", "--no-async-scheduling"),
        )
        answer = kvsim.capacity(
            "kimi-linear-48b",
            "1M",
            gpu="H200",
            tp=np.int64(2),
            gpu_memory_utilization=0.9,
            async_scheduling=False,
            block_size=None,
        )
        self.assert_same(printed, answer)

    def test_capacity_searches_for_gpus(self):
        printed = ask_command(
            *("capacity", "--model", "llama-3.1-8b", "--gpu", "H200"),
            *("--context", "128K", "--concurrency", "100"),
        )
        answer = kvsim.capacity(
            "llama-3.1-8b", "128K", gpu="H200", concurrency=100
        )
        self.assert_same(printed, answer)

    def test_a_dict_is_json(self):
        overrides = {"num_hidden_layers": 1}
        printed = ask_command(
            *("layout", "--model", "llama-3.1-8b"),
            *("--hf-overrides", json.dumps(overrides)),
        )
        answer = kvsim.layout("llama-3.1-8b", hf_overrides=overrides)
        self.assert_same(printed, answer)

    def test_replay(self):
        printed = ask_command(
            *("replay", "--trace", TRACE, "--model", "llama-3.1-8b"),
            *("--kv-memory", "28GiB", "--slo", "ttft=2s,tpot=50ms"),
            *("--baseline", "contiguous", "--no-enable-chunked-prefill"),
            *("--max-num-batched-tokens", "131072"),
        )
        answer = kvsim.replay(
            TRACE,
            **MEMORY,
            slo=["ttft=2s", "tpot=50ms"],
            baseline="contiguous",
            no_enable_chunked_prefill=True,
            max_num_batched_tokens=131072,
        )
        self.assert_same(printed, answer)
        self.assertEqual(answer["requests"], 407)
        self.assertIs(type(answer["ttft"]["p99_ns"]), int)
        self.assertIs(type(answer["ledger_peak"][0]["bytes"]), int)
        self.assertIs(type(answer["manifest"]["switches"][1]["value"]), str)

    def test_replay_of_hits(self):
        printed = ask_command(
            *("replay", "--trace", TRACE, "--mode", "hits", "--blocks", "500")
        )
        answer = kvsim.replay(TRACE, mode="hits", blocks=500)
        self.assert_same(printed, answer)
        self.assertIs(type(answer["hit_tokens"]), int)

    def test_version(self):
        printed = run_command("--version").stdout.splitlines()
        self.assertEqual(printed[0], f"kvsim {kvsim.__version__}")


class TimelineTest(unittest.TestCase):
    def test_equals_the_csv(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "timeline.csv")
            ask_command(
                *("replay", "--trace", TRACE, "--model", "llama-3.1-8b"),
                *("--kv-memory", "28GiB", "--timeline", path),
            )
            with open(path, encoding="utf-8", newline="") as file:
                names, *rows = csv.reader(file)
        report = kvsim.replay(TRACE, timeline=True, **MEMORY)
        timeline = report["timeline"]
        self.assertEqual(list(timeline), names)
        for name, column in zip(names, zip(*rows)):
            self.assertEqual(timeline[name].shape, (report["steps"],))
            self.assertEqual(timeline[name].astype(str).tolist(), list(column))
        self.assertEqual(timeline["live"].dtype, np.int64)
        accounts = names[names.index("limit") + 1 :]
        pool = sum(timeline[name] for name in accounts)
        self.assertTrue((pool == report["pool_bytes"]).all())

    def test_is_of_the_replay_and_not_of_its_baseline(self):
        report = kvsim.replay(
            TRACE, timeline=True, baseline="no-prefix-caching", **MEMORY
        )
        self.assertEqual(len(report["timeline"]["step"]), report["steps"])

    def test_a_path_writes_the_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "timeline.csv")
            report = kvsim.replay(TRACE, timeline=path, limit=3, **MEMORY)
            with open(path, encoding="utf-8") as file:
                self.assertEqual(len(file.readlines()), report["steps"] + 1)
        self.assertNotIn("timeline", report)

    def test_needs_an_engine(self):
        with self.assertRaisesRegex(kvsim.Error, "--mode engine only"):
            kvsim.replay(TRACE, timeline=True, mode="hits", blocks=500)


class ReadTraceTest(unittest.TestCase):
    def test_columns_are_the_rows(self):
        with open(TRACE, encoding="utf-8") as file:
            rows = [json.loads(line) for line in file]
        trace = kvsim.read_trace(TRACE)
        fields = {
            "arrival_ns": [row["timestamp"] * 10**6 for row in rows],
            "input_tokens": [row["input_length"] for row in rows],
            "output_tokens": [row["output_length"] for row in rows],
            "priority": [0 for row in rows],
            "block_tokens": [512 for row in rows],
            "think_time_ns": [row.get("delay", 0) * 10**6 for row in rows],
        }
        for name, values in fields.items():
            self.assertEqual(trace[name].dtype, np.int64, name)
            self.assertEqual(trace[name].tolist(), values, name)
        ids, offsets = trace["block_ids"], trace["block_offsets"]
        self.assertEqual(ids.dtype, np.uint64)
        self.assertEqual(len(offsets), len(rows) + 1)
        for i, row in enumerate(rows):
            self.assertEqual(
                ids[offsets[i] : offsets[i + 1]].tolist(), row["hash_ids"]
            )
        # A turn follows the turn before it.
        later = np.flatnonzero(trace["turn"] > 0)
        before = trace["previous"][later]
        self.assertTrue((before < later).all())
        self.assertTrue((trace["turn"][before] == trace["turn"][later] - 1).all())
        self.assertTrue((trace["session"][before] == trace["session"][later]).all())

    def test_a_trace_without_ids_has_no_id_columns(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "azure.csv")
            with open(path, "w", encoding="utf-8") as file:
                file.write("TIMESTAMP,ContextTokens,GeneratedTokens\n")
                file.write("2023-11-16 18:15:46.5000000,374,44\n")
                file.write("2023-11-16 18:15:48.0000000,396,109\n")
            trace = kvsim.read_trace(path)
        self.assertNotIn("block_ids", trace)
        self.assertEqual(trace["arrival_ns"].tolist(), [0, 1_500_000_000])
        self.assertEqual(trace["session"].tolist(), [-1, -1])

    def test_takes_the_flags_of_the_trace_commands(self):
        whole = kvsim.read_trace(TRACE)
        part = kvsim.read_trace(TRACE, format="mooncake", limit=5, rate_scale=2)
        self.assertEqual(
            part["arrival_ns"].tolist(), (whole["arrival_ns"][:5] // 2).tolist()
        )

    def test_arrays_own_their_memory(self):
        trace = kvsim.read_trace(TRACE)
        tokens = trace["input_tokens"]
        total = int(tokens.sum())
        self.assertFalse(tokens.flags.owndata)  # not a copy: a vector's memory
        self.assertTrue(tokens.flags.writeable)
        del trace
        gc.collect()
        kvsim.read_trace(TRACE)
        self.assertEqual(int(tokens.sum()), total)

    def test_an_empty_trace(self):
        with tempfile.TemporaryDirectory() as folder:
            path = write_trace(folder, [])
            trace = kvsim.read_trace(path, format="mooncake")
        self.assertEqual(trace["arrival_ns"].shape, (0,))

    def test_errors_name_the_place(self):
        with tempfile.TemporaryDirectory() as folder:
            path = write_trace(folder, [row(5, 1), row(0, 1)])
            with self.assertRaisesRegex(kvsim.Error, "trace.jsonl:2.*input_length"):
                kvsim.read_trace(path)
        with self.assertRaisesRegex(kvsim.Error, "none.jsonl"):
            kvsim.read_trace("none.jsonl")
        with self.assertRaisesRegex(kvsim.Error, "--trace-format.*'csv'"):
            kvsim.read_trace(TRACE, format="csv")
        with self.assertRaisesRegex(kvsim.Error, "nearest: rate_scale"):
            kvsim.read_trace(TRACE, rate_scal=2)


class ErrorTest(unittest.TestCase):
    def test_is_what_the_command_prints(self):
        printed = run_command("replay", "--trace", TRACE, "--kv-memory", "much")
        self.assertEqual(printed.returncode, 1)
        with self.assertRaises(kvsim.Error) as raised:
            kvsim.replay(TRACE, kv_memory="much")
        self.assertEqual(str(raised.exception) + "\n", printed.stderr)
        self.assertIsInstance(raised.exception, ValueError)

    def test_a_required_flag_is_named(self):
        with self.assertRaisesRegex(kvsim.Error, "--model is required"):
            kvsim.layout(None)

    def test_an_unknown_keyword_names_the_nearest(self):
        with self.assertRaisesRegex(
            kvsim.Error, "kvsim replay: no option kv_memroy; nearest: kv_memory"
        ):
            kvsim.replay(TRACE, kv_memroy="28GiB")
        with self.assertRaisesRegex(kvsim.Error, "no option json"):
            kvsim.layout("llama-3.1-8b", json=False)

    def test_a_value_of_the_wrong_kind_is_named(self):
        with self.assertRaisesRegex(kvsim.Error, "async_scheduling: found 'yes' .*True or"):
            kvsim.replay(TRACE, async_scheduling="yes", **MEMORY)
        with self.assertRaisesRegex(kvsim.Error, r"block_size: found True \(bool\)"):
            kvsim.replay(TRACE, block_size=True, **MEMORY)
        with self.assertRaisesRegex(kvsim.Error, r"gpu: found <object.*\(object\)"):
            kvsim.capacity("llama-3.1-8b", gpu=object())

    def test_no_value_becomes_a_flag(self):
        for text in ("--help", "--", "-tp", ""):
            with self.subTest(text), self.assertRaises(kvsim.Error):
                kvsim.layout(text)


class RunningTest(CommandCase):
    def test_other_threads_go_on(self):
        ticks = 0
        done = threading.Event()

        def tick():
            nonlocal ticks
            while not done.wait(0.001):
                ticks += 1

        ticker = threading.Thread(target=tick)
        ticker.start()
        before = ticks
        # Four times some 0.1 s.
        for _ in range(4):
            kvsim.replay(TRACE, **MEMORY)
        during = ticks - before
        done.set()
        ticker.join()
        self.assertGreater(during, 20)

    def test_replays_in_threads_are_those_without(self):
        expected = kvsim.replay(TRACE, timeline=True, **MEMORY)
        answers = [None] * 4

        def replay(i):
            answers[i] = kvsim.replay(TRACE, timeline=True, **MEMORY)

        threads = [
            threading.Thread(target=replay, args=(i,)) for i in range(len(answers))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        timeline = expected.pop("timeline")
        for answer in answers:
            for name, column in answer.pop("timeline").items():
                self.assertTrue((column == timeline[name]).all(), name)
            self.assert_same(expected, answer)

    def test_an_interrupt_ends_a_replay(self):
        # One request after the other, 4 million steps: many seconds.
        with tempfile.TemporaryDirectory() as folder:
            path = write_trace(folder, [row(5, 4000)] * 1000)
            timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
            started = time.monotonic()
            timer.start()
            with self.assertRaises(KeyboardInterrupt):
                kvsim.replay(path, num_gpu_blocks=1000, max_num_seqs=1)
            self.assertGreater(time.monotonic() - started, 0.3)
            # And the next one runs.
            kvsim.replay(path, num_gpu_blocks=1000, limit=1)


class HelpTest(unittest.TestCase):
    def test_every_function_documents_every_flag(self):
        for name in ("layout", "capacity", "replay"):
            help_text = getattr(kvsim, name).__doc__
            printed = run_command(name, "--help").stdout
            flags = [
                word.split(",")[0].split("{")[0]
                for line in printed.splitlines()
                for word in line.split()[:1]
                if word.startswith("--")
            ]
            self.assertGreater(len(flags), 10)
            for flag in flags:
                if flag not in ("--json", "--help", "--model", "--context"):
                    self.assertIn(flag[2:].replace("-", "_"), help_text, flag)
        self.assertIn("read_trace", kvsim.__doc__)
        self.assertIn("block_offsets", kvsim.read_trace.__doc__)


class ExampleTest(unittest.TestCase):
    def test_prints_what_the_docs_show(self):
        with open("docs/python.md", encoding="utf-8") as file:
            page = file.read()
        start = page.index("python/example.py\n", page.index("\n$ "))
        shown = page[page.index("\n", start) + 1 : page.index("\n```", start) + 1]
        done = subprocess.run(
            [sys.executable, "python/example.py"],
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, shown)


if __name__ == "__main__":
    unittest.main()
