#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""selftest.py ROOT - each check passes on a small clean tree, and fails on it with one flaw added.

Also the drivers that turn results into counts (tools/tally.py, models/run.py): what they must not take for a success.
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
HERE = ROOT / "tests" / "checks"
SPDX = "/* SPDX-License-Identifier: Apache-2.0 */\n"
BODY = "int gy_one(int a)\n{\n    return a + 1;\n}\n"


def c_file(name, body, includes=""):
    return f"{SPDX}/* {name} - a small file. */\n{includes}\n{body}"


CLEAN = {
    "src/lib/a.c": c_file("a.c", BODY, '#include "lib/a.h"\n'),
    "src/lib/a.h": c_file("a.h", "int gy_one(int a);\n"),
    "src/net/b.c": c_file("b.c", BODY.replace("one", "two"), '#include "base/b.h"\n\n#include <uv.h>\n'),
    "include/gyre.h": c_file("gyre.h", "#ifndef G\n#define G\nint gyre_one(int a);\n#endif\n"),
    "man/a.1": ".\\\" SPDX-License-Identifier: Apache-2.0\n.Dd May 1, 2026\n.Dt A 1\n.Os\n.Sh NAME\n.Nm a\n.Nd b\n",
    "run.sh": "#!/bin/sh\n# SPDX-License-Identifier: Apache-2.0\necho \"$1\"\n",
}
LONG_FN = "int gy_one(int a)\n{\n" + "    a++;\n" * 130 + "    return a;\n}\n"
TWISTED_FN = "int gy_one(int a)\n{\n" + "    if (a) {\n        a++;\n    }\n" * 25 + "    return a;\n}\n"
# check -> flaws: file -> content (bytes or text)
FLAWS = {
    "includes.py": [
        {"src/lib/a.c": c_file("a.c", BODY, '#include "base/b.h"\n')},
        {"src/lib/a.c": c_file("a.c", BODY, "#include <pthread.h>\n")},
        {"src/base/c.c": c_file("c.c", BODY, '#include "net/b.h"\n')},
        {"src/base/c.c": c_file("c.c", BODY, '#include "lib/a.h"\n')},
        {"src/proxy/c.c": c_file("c.c", BODY, "#include <uv.h>\n")},
        {"src/wire/c.c": c_file("c.c", BODY, '#include "formats/c.h"\n')},
        {"src/study/c.c": c_file("c.c", BODY, '#include "net/b.h"\n')},
        {"src/base/c.c": c_file("c.c", BODY, '#include "../net/b.h"\n')},
        {"src/base/c.c": c_file("c.c", BODY, "# include WHAT\n")},
        {"src/cellar/c.c": c_file("c.c", BODY)},
        {"include/gyre.h": c_file("gyre.h", "", "#include <stdio.h>\n#include <pthread.h>\n")},
    ],
    "sizes.py": [
        {"src/lib/a.c": c_file("a.c", "\n" * 700)},
        {"src/lib/a.c": c_file("a.c", LONG_FN)},
        {"src/lib/a.c": c_file("a.c", TWISTED_FN)},
        {"src/lib/a.c": c_file("a.c", LONG_FN.replace("    a++;\n" * 70, "", 1))},  # the 90th percentile
        {"tests/checks/sizes_exceptions.txt": "src/lib/a.c:gy_one was too long once\n"},
    ],
    "spdx.py": [
        {"src/lib/a.c": BODY},
        {"src/lib/a.c": SPDX + BODY},
        {"src/lib/a.c": c_file("b.c", BODY)},
        {"tools/x.py": "print(1)\n"},
    ],
    "words.py": [
        {"src/lib/a.c": c_file("a.c", "/* TO" + "DO: more */\n" + BODY)},
        {"docs/a.md": "see /wo" + "rk/here\n"},
        {"docs/a.md": "blanks  \n"},
        {"docs/a.md": b"\xff\xfe\n"},
        {"src/lib/a.c": c_file("a.c", BODY.replace("    ", "\t"))},
    ],
    "format.sh": [{"src/lib/a.c": c_file("a.c", BODY.replace("    return", "  return"))}],
    "header.sh": [
        {"include/gyre.h": c_file("gyre.h", "enum gyre_e { A };\n")},  # not twice
        {"include/gyre.h": c_file("gyre.h", "#ifndef G\n#define G\nint gyre_one(int new);\n#endif\n")},  # not C++
        {"include/gyre.h": c_file("gyre.h", "#ifndef G\n#define G\nint gyre_one();\n#endif\n")},  # no prototype
    ],
    "man.py": [{"man/a.1": ".Dd May 1, 2026\n.Dt A 1\n.Os\n.Sh NAME\n.Nmm a\n"}, {"man/a.1": ""}],
    "shell.sh": [{"run.sh": "#!/bin/sh\n# SPDX-License-Identifier: Apache-2.0\nrm -rf $1/*\ncd $2\n"}],
}


def lay(folder, *trees):
    shutil.copy(ROOT / ".clang-format", folder / ".clang-format")
    for tree in trees:
        for name, content in tree.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())


def status(*command):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)


def run_check(check, *trees):
    with tempfile.TemporaryDirectory(prefix="gyre-check-") as name:
        lay(pathlib.Path(name), *trees)
        command = ["sh"] if check.endswith(".sh") else [sys.executable]
        return status(*command, HERE / check, name)


def test_checks():
    for check, flaws in FLAWS.items():
        clean = run_check(check, CLEAN)
        expect(clean.returncode == 0, f"{check} passes on a clean tree: {clean.stdout}{clean.stderr}")
        for flaw in flaws:
            done = run_check(check, CLEAN, flaw)
            expect(done.returncode != 0 and "Traceback" not in done.stderr, f"{check} catches {flaw}"[:200])
        expect(run_check(check, {}).returncode != 0, f"{check} fails where there is nothing to check")


def test_symbols():
    with tempfile.TemporaryDirectory(prefix="gyre-check-") as name:
        d = pathlib.Path(name)
        good = "int gyre_f(int a);\nint gyre_f(int a)\n{\n    return a;\n}\n"
        for flaw, ok in (("", True), ("#include <stdio.h>\nint gyre_g(void)\n{\n    return getchar();\n}\n", False),
                         ("int other(void)\n{\n    return 1;\n}\n", False), ("int gyre_state = 1;\n", False)):
            (d / "x.c").write_text(good + flaw)
            for command in ("gcc -fPIC -c x.c -o x.o", "gcc -shared x.o -o x.so", "rm -f x.a", "ar rcs x.a x.o"):
                subprocess.run(command.split(), cwd=d, check=True)
            done = status(sys.executable, HERE / "symbols.py", d / "x.so", d / "x.a")
            expect((done.returncode == 0) is ok, f"symbols.py on {flaw!r}: {done.stdout}{done.stderr}")


def test_tally():
    tests = [{"name": n, "suite": ["gyre:unit"]} for n in "abc"]
    rows = [{"name": "a", "result": "OK"}, {"name": "b", "result": "SKIP"}, {"name": "c", "result": "OK"}]
    for what, log, want in (
        ("all ran", rows, "2 0 1"),
        ("one failed", rows[:2] + [{"name": "c", "result": "FAIL"}], "1 1 1"),
        ("timed out", rows[:2] + [{"name": "c", "result": "TIMEOUT"}], "1 1 1"),
        ("cut short", rows[:1], "1 2 0"),
        ("no log", None, "0 3 0"),
    ):
        with tempfile.TemporaryDirectory(prefix="gyre-check-") as name:
            d = pathlib.Path(name)
            (d / "meson-info").mkdir()
            (d / "meson-logs").mkdir()
            (d / "meson-info" / "intro-tests.json").write_text(json.dumps(tests))
            if log is not None:
                text = "".join(json.dumps(r) + "\n" for r in log) + ('{"name": "c", "res' if what == "cut short" else "")
                (d / "meson-logs" / "testlog.json").write_text(text)
            got = status(sys.executable, ROOT / "tools" / "tally.py", d).stdout.strip()
            expect(got == want, f"tally.py, {what}: {got}, expected {want}")
    with tempfile.TemporaryDirectory(prefix="gyre-check-") as name:
        got = status(sys.executable, ROOT / "tools" / "tally.py", name).stdout.strip()
        expect(got == "0 1 0", f"tally.py without a build: {got}")


def test_models():
    for case, ok in (
        ("short base scan MODE=0 807", True),
        ("short base scan MODE=0 NOEXTRAPASS 373", False),  # a base with an error
        ("short assert scan MODE=0 807", False),  # a mutation that is not caught
        ("short base scan MODE=0 99999", False),  # far fewer states than there should be
        ("short deadlock scan MODE=0 NOEXTRAPASS 373", False),  # caught, but by something else
        ("short assert nosuch MODE=0 1", False),
        ("long base scan MODE=0 807", False),  # nothing ran
        ("short base scan MODE=0", False),  # not a case
    ):
        with tempfile.TemporaryDirectory(prefix="gyre-check-") as name:
            d = pathlib.Path(name)
            shutil.copy(ROOT / "models" / "scan.pml", d)
            (d / "cases.txt").write_text(case + "\n")
            done = status(sys.executable, ROOT / "models" / "run.py", d)
            expect((done.returncode == 0) is ok, f"models/run.py on '{case}': {done.stdout}{done.stderr}")


def test_models_doc():
    with tempfile.TemporaryDirectory(prefix="gyre-check-") as name:
        d = pathlib.Path(name)
        for f in ("docs/migration.md", "models/cases.txt", "README.md", "README.zh-CN.md"):
            (d / f).parent.mkdir(exist_ok=True)
            shutil.copy(ROOT / f, d / f)
        expect(status(sys.executable, HERE / "models_doc.py", d).returncode == 0, "models_doc.py passes on the tree")
        cases = (d / "models/cases.txt").read_text()
        for changed in (cases.replace("NOHOLD", "NOHOLE", 1), cases.rsplit("\n", 2)[0] + "\n", cases.replace(" 807", " 808", 1)):
            (d / "models/cases.txt").write_text(changed)
            expect(status(sys.executable, HERE / "models_doc.py", d).returncode == 1, "models_doc.py sees a change")
        (d / "models/cases.txt").write_text(cases)
        readme = d / "README.md"
        readme.write_text(readme.read_text().replace(" mutations", "0 mutations"))
        expect(status(sys.executable, HERE / "models_doc.py", d).returncode == 1, "models_doc.py sees a wrong number of mutations")


failures = []
expected = 0


def expect(ok, what):
    global expected
    expected += 1
    if not ok:
        failures.append(what)
        print("FAILED:", what)


if __name__ == "__main__":
    for test in (test_checks, test_symbols, test_tally, test_models, test_models_doc):
        test()
    print(f"selftest: {expected - len(failures)} of {expected} as expected")
    sys.exit(1 if failures else 0)
