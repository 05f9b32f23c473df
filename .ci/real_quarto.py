"""Make a Quarto that runs, where its releases cannot be downloaded.

    python .ci/real_quarto.py --source PATH/TO/quarto-cli [--out build/quarto]
    PATH="$PWD/build/quarto/bin:$PATH" judgestats report RUN

Needs a clone of Quarto's repository (bare or not, with its history to 2025), npm, and this
project's environment. Quarto is TypeScript: its source is run by the Deno that it names, with
dart-sass and esbuild of the versions that it names, all three from npm, and by the pandoc and typst
of this environment. Its other dependencies are those that its repository carried until April 2025.
Left out is puppeteer (screenshots of diagrams). It took 13 seconds.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pypandoc

CARRIED = "09bd1262c~1"
"""The last commit of Quarto that carries its dependencies (src/vendor)."""

TYPST = '''"""The commands of typst that Quarto calls, over the Python package."""
import argparse
import os
import sys

import typst

if sys.argv[1:] == ["--version"]:
    print("typst", typst.__version__)
    sys.exit()
parser = argparse.ArgumentParser()
for name in ("--root", "--package-path", "--package-cache-path", "--pdf-standard"):
    parser.add_argument(name)
parser.add_argument("--font-path", action="append", default=[])
parser.add_argument("command", choices=("compile", "fonts"))
parser.add_argument("files", nargs="*")
given = parser.parse_intermixed_args()
if given.command == "fonts":
    print(*typst.Fonts(font_paths=given.font_path).families(), sep="\\n")
    sys.exit()
source, output = given.files
options = {"root": given.root, "package_path": given.package_path,
           "package_cache_path": given.package_cache_path}
if given.pdf_standard:
    options["pdf_standards"] = given.pdf_standard.split(",")
if os.environ.get("SOURCE_DATE_EPOCH"):
    options["timestamp"] = int(os.environ["SOURCE_DATE_EPOCH"])
try:
    warnings = typst.compile_with_warnings(
        source, output=output, font_paths=given.font_path,
        **{key: value for key, value in options.items() if value is not None})[1]
except typst.TypstError as error:
    sys.exit(f"error: {error} {' '.join(getattr(error, 'hints', None) or [])}")
for warning in warnings:
    print("warning:", warning, file=sys.stderr)
'''

GATHER = '''"""`typst-gather analyze -`: packages that a document imports, and that these import."""
import json
import re
import sys
import tomllib
from pathlib import Path

given = tomllib.loads(sys.stdin.read())
ahead = [(Path(name), True) for name in given["discover"]]
found, files = {}, []
while ahead:
    path, direct = ahead.pop()
    files.append(str(path))
    text = path.read_text("utf-8", "replace")
    for package in re.findall(r'import\\s+"@(\\w+)/([\\w-]+):([\\d.]+)"', text):
        if package not in found:
            named = dict(zip(("namespace", "name", "version"), package))
            found[package] = named | {"source": path.name, "direct": direct}
            for folder in given.get("package-cache", []):
                ahead += [(t, False) for t in Path(folder, *package).rglob("*.typ")]
print(json.dumps({"imports": list(found.values()), "files": files}))
'''

LAUNCHER = """#!/bin/sh
root={root}
export QUARTO_ROOT=$root QUARTO_SRC_PATH=$root/src QUARTO_BIN_PATH=$root/bin
export QUARTO_SHARE_PATH=$root/src/resources QUARTO_DENO=$root/bin/tools/{machine}/deno
export DENO_DIR=$root/deno DENO_NO_UPDATE_CHECK=1
case "$1" in --version|-v) echo "$(cat "$QUARTO_SHARE_PATH/version")"; exit ;; esac
exec "$QUARTO_DENO" run --unstable-ffi --unstable-kv --no-lock --cached-only --allow-all \\
  --no-check --config "$root/deno.json" --v8-flags=--enable-experimental-regexp-engine,\\
--max-old-space-size=8192,--max-heap-size=8192,--stack-trace-limit=100 "$root/src/quarto.ts" "$@"
"""


def checked_out(source: Path, commit: str, folder: Path) -> None:
    """The files of `commit:src` or the like; blobs that a partial clone lacks are left out."""
    with tempfile.TemporaryDirectory() as scratch:
        index = os.environ | {"GIT_INDEX_FILE": str(Path(scratch) / "index")}
        git = ["git", "-C", str(source)]
        subprocess.run([*git, "read-tree", commit], env=index, check=True)
        folder.mkdir(parents=True)
        where = ["git", f"--git-dir={git_folder(source)}", f"--work-tree={folder}"]
        subprocess.run(
            [*where, "checkout-index", "--all", "--force", "--quiet"], env=index, check=False
        )


def git_folder(source: Path) -> str:
    """The folder of git's own files."""
    command = ["git", "-C", str(source), "rev-parse", "--absolute-git-dir"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def shown(source: Path, path: str) -> str:
    """A file of the newest commit."""
    command = ["git", "-C", str(source), "show", f"HEAD:{path}"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def import_map(src: Path, vendor: Path) -> dict[str, Any]:
    """Quarto's own map, pointed at the versions that it carried."""
    carried: dict[str, list[str]] = {}
    for listing in sorted(vendor.glob("*/@std/*/meta.json")):
        package = listing.parent
        versions = sorted(p.name for p in package.iterdir() if p.is_dir())
        carried[package.name] = versions
        kept = json.loads(listing.read_text()) | {
            "latest": versions[-1],
            "versions": {v: {} for v in versions},
        }
        listing.write_text(json.dumps(kept))
    imports: dict[str, str] = {}
    for name, target in json.loads((src / "import_map.json").read_text())["imports"].items():
        std = re.fullmatch(r"(jsr:/?@std)/([a-z_]+)@[\d.]+(.*)", target)
        if std is None:
            imports[name] = target
        elif std[2] in carried:
            imports[name] = f"{std[1]}/{std[2]}@{carried[std[2]][0]}{std[3]}"
    imports["yaml"] = imports["yaml"].rpartition("@")[0]  # carried without its version
    imports["puppeteer"] = "./no-puppeteer.js"
    return {"imports": imports}


def executable(path: Path, text: str) -> None:
    """A program written as text."""
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)


def main() -> None:
    """Build it, and say how it is used."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--source", type=Path, required=True, help="clone of quarto-cli")
    parser.add_argument(
        "--out", type=Path, default=Path("build/quarto"), help="where (a new folder)"
    )
    given = parser.parse_args()
    root, source = given.out.resolve(), given.source.resolve()
    shutil.rmtree(root, ignore_errors=True)
    src, vendor, machine = root / "src", root / "vendor", os.uname().machine
    checked_out(source, "HEAD:src", src)
    checked_out(source, f"{CARRIED}:src/vendor", vendor)
    (src / "im.json").write_text(json.dumps(import_map(src, vendor), indent=1))
    (src / "no-puppeteer.js").write_text("export default {};\n")
    (src / "resources" / "version").write_text(shown(source, "version.txt").strip())  # no new line
    (root / "deno.json").write_text(
        json.dumps({"vendor": True, "importMap": "./src/im.json", "nodeModulesDir": "none"})
    )

    wanted = dict(
        re.findall(r"^export (\w+)=v?(\S+)$", shown(source, "configuration"), re.MULTILINE)
    )
    cpu = {"x86_64": "x64", "aarch64": "arm64"}[machine]
    npm = root / "npm" / "node_modules"
    packages = [
        f"@deno/linux-{cpu}-glibc@{wanted['DENO']}",
        f"@esbuild/linux-{cpu}@{wanted['ESBUILD']}",
        f"sass-embedded-linux-{cpu}@{wanted['DARTSASS']}",
    ]
    (root / "npm").mkdir()
    (root / "npm" / "package.json").write_text("{}")
    subprocess.run(
        ["npm", "install", "--no-audit", "--ignore-scripts", *packages],
        cwd=root / "npm",
        check=True,
    )
    tools = root / "bin" / "tools" / machine
    tools.mkdir(parents=True)
    for name, program in {
        "deno": npm / f"@deno/linux-{cpu}-glibc" / "deno",
        "esbuild": npm / f"@esbuild/linux-{cpu}" / "bin" / "esbuild",
        "dart-sass": npm / f"sass-embedded-linux-{cpu}" / "dart-sass",
        "pandoc": Path(pypandoc.get_pandoc_path()),
    }.items():
        (tools / name).symlink_to(program)
    executable(tools / "typst", f"#!{sys.executable}\n{TYPST}")
    executable(tools / "typst-gather", f"#!{sys.executable}\n{GATHER}")
    executable(root / "bin" / "quarto", LAUNCHER.format(root=root, machine=machine))

    deno = {"DENO_DIR": str(root / "deno"), "DENO_NO_UPDATE_CHECK": "1"}
    subprocess.run(
        [tools / "deno", "cache", "--quiet", "--no-lock", f"--config={root / 'deno.json'}",
         f"--allow-import={','.join(p.name for p in vendor.iterdir())}", "quarto.ts"],
        cwd=src, check=True, env=os.environ | deno | {"DENO_TLS_CA_STORE": "system,mozilla"},
    )  # fmt: skip
    subprocess.run([root / "bin" / "quarto", "--version"], check=True)
    print(f'PATH="{root / "bin"}:$PATH"')


if __name__ == "__main__":
    main()
