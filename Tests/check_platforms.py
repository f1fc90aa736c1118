#!/usr/bin/env python3
"""Type-checks the sources for platforms that are not at hand, and fails if a branch of an `#if` is in no check.

    python3 -m pip install --target .build/headers ziglang==0.17.1
    PYTHONPATH=.build/headers python3 Tests/check_platforms.py [--all] [--list] [--sources]

--all checks the body of every function, and not only the files that have an `#if` or call a function of the C library; --list prints each
branch with its checks; --sources compiles nothing, and needs no headers.

Swift: the compiler is given the triple of another platform, so it takes that platform's branches by itself. What it lacks is the
platform's modules. The standard library and Foundation are its own for Linux, with another triple written into them. The C library is
that of the platform, by the headers that the Python package `ziglang` brings along: musl, Darwin and mingw-w64. Android's are musl's
with Android's nullability (Tests/Platforms/*.apinotes). So a name or a type that a platform's C library does not have is an error. A
difference in Foundation is not one, except where Tests/Platforms declares it.

C: the targets are compiled for more platforms and processors with the same headers. What needs no library is run as well, in QEMU for
processors with 32 bits or with the highest byte first (Debian: gcc-powerpc-linux-gnu, qemu-user), and must print what it prints here.
"""

import collections
import concurrent.futures
import functools
import glob
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PARTS = os.path.join(ROOT, "Tests", "Platforms")
INSTALL = __doc__.splitlines()[2].strip()

# The triple that the compiler is given, the folder and the name under which it looks for its modules, the triple that is written into
# them, which has to be as long as Linux's own, the module of the C library, and zig's folders of headers.
Platform = collections.namedtuple("Platform", "name triple folder module written library headers")
LINUX = ["x86_64-linux-musl", "generic-musl", "x86-linux-any", "any-linux-any"]
PLATFORMS = [
    Platform("musl", "x86_64-swift-linux-musl", "linux-static", "x86_64-swift-linux-musl", "x86_64-swiftx-linux-musl", "Musl", LINUX),
    Platform("Android", "x86_64-unknown-linux-android28", "android", "x86_64-unknown-linux-android", "x86_64-u-linux-android28",
             "Android", LINUX),
    Platform("Darwin", "arm64-apple-macosx15.0", "macosx", "arm64-apple-macos", "arm64-apple-macosx15.0.0", "Darwin",
             ["any-darwin-any"]),
    Platform("iOS", "arm64-apple-ios18.0", "iphoneos", "arm64-apple-ios", "arm64-apple-ios18.000000", "Darwin", ["any-darwin-any"]),
    Platform("Windows", "x86_64-unknown-windows-gnu", "mingw", "x86_64-unknown-windows-gnu", "x86_64-unkno-windows-gnu", "ucrt",
             ["any-windows-any"]),
]
HOST = b"x86_64-unknown-linux-gnu"
# What a program that only compiles has no use for.
LEFT_OUT = {"Glibc", "Testing", "XCTest", "_Differentiation", "_Testing_Foundation", "_TestDiscovery", "_TestingInterop"}
# Modules inside Foundation, empty where they do not suit the platform's headers.
EMPTY = {"Darwin": {"_FoundationCShims"}, "iOS": {"_FoundationCShims"}, "Windows": {"_FoundationCShims"}}

# What is true where: the platforms above, and Linux with glibc, which `swift build` compiles. A condition that is not here is an error.
EVERYWHERE = {"glibc", "musl", "Android", "Darwin", "iOS", "Windows"}
# Linux with stubs of Apple's frameworks, where Tests/Packages/Stubs compiles the screens.
STUBS = {"UIKit", "AppKit"}
TRUE_ON = {
    "os(Linux)": {"glibc", "musl"} | STUBS, "os(Windows)": {"Windows"}, "os(Android)": {"Android"}, "os(macOS)": {"Darwin"},
    "os(iOS)": {"iOS"}, "os(tvOS)": set(), "os(watchOS)": set(), "os(visionOS)": set(),
    "canImport(Glibc)": {"glibc"} | STUBS, "canImport(Musl)": {"musl"}, "canImport(Android)": {"Android"}, "canImport(Darwin)": {"Darwin", "iOS"},
    "canImport(CRT)": {"Windows"}, "canImport(ObjectiveC)": {"Darwin", "iOS"}, "canImport(XcodeProjectPlugin)": {"Darwin"},
    # Foundation of Darwin has their content, and no check is told so.
    "canImport(FoundationXML)": EVERYWHERE, "canImport(FoundationNetworking)": EVERYWHERE,
    "defined(_WIN32)": {"Windows"}, "defined(__APPLE__)": {"Darwin", "iOS"}, "defined(__GLIBC__)": {"glibc"},
    "__has_include(<CommonCrypto/CommonDigest.h>)": {"Darwin", "iOS"},
    "canImport(SwiftUI)": STUBS, "canImport(UIKit)": {"UIKit"}, "canImport(AppKit)": {"AppKit"},
}
# What is either way on each platform: a check has it one way, and a second check the other.
EITHER = {"DEBUG", "compiler(>=6.2)", "compiler(>=6.3)"}
SECOND = "/second"
# A check of C that has neither: the guards of headers, and a macro that a program may have set before.
GUARDS = re.compile(r"defined\(_GNU_SOURCE\)|TRELLIS_\w+_H")

SETTINGS = """-swift-version 6 -package-name trellis -enable-upcoming-feature ExistentialAny
  -enable-upcoming-feature InternalImportsByDefault -enable-upcoming-feature NonisolatedNonsendingByDefault -Onone""".split()
TARGETS_OF_C = ["CLibrary", "CDigest", "CSQLiteFunctions", "CSQLite", "CLinkedSQLite", "CPQ"]
# The header of a target, if it has another name.
HEADERS = {"CSQLiteFunctions": "TrellisSQLiteFunctions"}
# What needs a library to be linked.
LINKED = {"CLinkedSQLite"}
# In the order of their dependencies.
MODULES = """TrellisModel TrellisModelFile TrellisStorage TrellisRuntime TrellisJSON TrellisCSV Trellis TrellisUI TrellisLinkedSQLite TrellisStoreTesting
  TrellisFoundationPredicates TrellisGenerator trellis-gen TrellisForeignFiles TrellisCoreData TrellisAdoption TrellisPostgres TrellisPostgresAdoption TrellisTimeTravel TrellisDynamic TrellisSync TrellisTesting TrellisBrowser
  TrellisDiagram trellis-tool""".split()
# They need generated code, and have no condition.
SAMPLES = ["diary", "dex"]
PLUGINS = ["TrellisPlugin", "TrellisGenerate", "TrellisCommand"]
STANDARD = "ctype errno fenv inttypes limits locale math setjmp signal stdint stdio stdlib string time wchar".split()
POSIX = """arpa/inet dirent fcntl netdb netinet/in poll pthread sched strings sys/file sys/ioctl sys/mman sys/socket sys/stat sys/time
  sys/types sys/un sys/wait termios unistd""".split()
# The triples for which C is compiled, with zig's folders of headers.
PROCESSORS = [
    ("x86_64-unknown-windows-gnu", "any-windows-any"), ("aarch64-unknown-windows-gnu", "any-windows-any"),
    ("i686-unknown-windows-gnu", "any-windows-any"),
    ("arm64-apple-macos15", "any-darwin-any"), ("x86_64-apple-macos15", "any-darwin-any"), ("arm64-apple-ios18", "any-darwin-any"),
    ("arm64_32-apple-watchos11", "any-darwin-any"),
] + [
    (triple, f"{folder}-linux-{library} generic-{library.removesuffix('eabihf').removesuffix('eabi')} {kernel}-linux-any any-linux-any")
    for triple, folder, library, kernel in [
        ("x86_64-unknown-linux-musl", "x86_64", "musl", "x86"), ("aarch64-unknown-linux-musl", "aarch64", "musl", "aarch64"),
        ("armv7-unknown-linux-musleabihf", "arm", "musl", "arm"), ("i686-unknown-linux-musl", "x86", "musl", "x86"),
        ("s390x-unknown-linux-musl", "s390x", "musl", "s390x"), ("powerpc-unknown-linux-musl", "powerpc", "musl", "powerpc"),
        ("riscv64-unknown-linux-musl", "riscv64", "musl", "riscv"), ("aarch64-unknown-linux-android28", "aarch64", "musl", "aarch64"),
        ("armv7-unknown-linux-androideabi28", "arm", "musl", "arm"), ("aarch64-unknown-linux-gnu", "aarch64", "gnu", "aarch64")]
]
PROCESSORS = [(triple, headers.replace("generic-gnu", "generic-glibc")) for triple, headers in PROCESSORS]
# Debian's compilers for other processors, and what runs their programs: 32 bits with the highest byte first, 64 bits so, and 32 bits.
RUN = [("powerpc-linux-gnu", "qemu-ppc"), ("s390x-linux-gnu", "qemu-s390x"), ("arm-linux-gnueabihf", "qemu-arm")]


def run(*command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", **options)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def sources(*path, endings=("swift",)):
    return sorted(
        found for ending in endings for found in glob.glob(os.path.join(ROOT, *path, "**", f"*.{ending}"), recursive=True))


@functools.cache
def zig_folder():
    found = importlib.util.find_spec("ziglang")
    if not found:
        sys.exit(f"the headers of other platforms come with a Python package: {INSTALL}")
    return os.path.dirname(found.origin)


USR = os.path.dirname(os.path.dirname(os.path.realpath(shutil.which("swiftc") or sys.exit("swiftc is not in the search path"))))


# MARK: - Branches

class UnknownCondition(Exception):
    pass


def holds(condition, check):
    """Whether a condition is true in a check: the name of a platform, with SECOND at its end for the second one."""
    platform, is_second = check.removesuffix(SECOND), check.endswith(SECOND)

    def value(match):
        atom = re.sub(r"\s+", "", match[0])
        if atom in {"!", "&&", "||", "(", ")"}:
            return {"!": " not ", "&&": " and ", "||": " or "}.get(atom, atom)
        if atom in TRUE_ON:
            return str(platform in TRUE_ON[atom])
        if atom in EITHER:
            return str(not is_second)
        if GUARDS.search(atom):
            return "False"
        raise UnknownCondition(atom)

    return eval(re.sub(r"\w+\s*\([^()]*\)|\w+|&&|\|\||[!()]", value, condition))


def branches(path, checks):
    """The branches of a file: line, directive, and the checks that compile it."""
    found, open_ones = [], []
    for number, line in enumerate(read(path).splitlines(), 1):
        match = re.match(r"\s*#\s*(ifndef|ifdef|if|elseif|elif|else|endif)\b\s*(.*?)\s*(?://.*)?$", line)
        if not match:
            continue
        directive, condition = match[1], re.sub(r"/\*.*?\*/", "", match[2])
        if directive == "ifdef" or directive == "ifndef":
            condition = f"{'!' if directive == 'ifndef' else ''}defined({condition})"
        if directive == "endif":
            open_ones.pop()
            continue
        if directive in {"if", "ifdef", "ifndef"}:
            around = open_ones[-1]["now"] if open_ones else set(checks)
            open_ones.append({"left": set(around), "now": set()})
        block = open_ones[-1]
        taken = set(block["left"]) if directive == "else" else {check for check in block["left"] if holds(condition, check)}
        block["left"] -= taken
        block["now"] = taken
        found.append((number, line.strip(), taken))
    return found


def check_branches(is_listing):
    """Fails for a branch that no check compiles. The second check of a platform is for Swift only."""
    problems, count = [], 0
    for files, checks in [
        (sources("Sources") + sources("Plugins") + sources("Models"), sorted(EVERYWHERE) + [name + SECOND for name in sorted(EVERYWHERE)]),
        (sources("Sources", endings=("c", "h")), sorted(EVERYWHERE - {"Android"})),
    ]:
        for path in files:
            name = os.path.relpath(path, ROOT)
            try:
                has_stubs = name.startswith("Sources/TrellisUI/")
                for line, directive, taken in branches(path, checks + sorted(STUBS) if has_stubs else checks):
                    count += 1
                    if is_listing:
                        print(f"{name}:{line}: {directive}: {', '.join(sorted(taken)) or 'no check'}")
                    if not taken:
                        problems.append(f"{name}:{line}: error: no check compiles '{directive}'; remove it, or add a platform to "
                                        "Tests/check_platforms.py that does")
            except UnknownCondition as condition:
                problems.append(f"{name}: error: where '{condition}' is true is not known; say it in TRUE_ON of "
                                "Tests/check_platforms.py, so that each branch has a check")
    if not problems:
        print(f"{count} branches of conditions, each in a check")
    return problems


def check_targets():
    """Fails for a folder of sources that no check knows."""
    problems = []
    for name in sorted(os.listdir(os.path.join(ROOT, "Sources"))):
        is_known = name in MODULES + SAMPLES if sources("Sources", name) else name in TARGETS_OF_C
        if not is_known:
            problems.append(f"Sources/{name}: error: no check has it; name it in MODULES or TARGETS_OF_C of Tests/check_platforms.py")
    return problems


def check_widths():
    """Fails for a number of more than 32 bits in an `Int`, which has no more on watchOS and on 32-bit Arm."""
    problems = []
    for path in sources("Sources") + sources("Models"):
        for number, line in enumerate(read(path).splitlines(), 1):
            if re.search(r"<<=? *(3[1-9]|[4-6]\d)\b", line) and not re.search(r"Int64|Int128|BitPattern", line):
                problems.append(f"{os.path.relpath(path, ROOT)}:{number}: error: an Int has 32 bits on some processors; "
                                "name a type of 64 bits on the line")
    return problems


# MARK: - Swift

def names_of_c():
    """The functions and macros of C libraries, by musl's headers."""
    names = set()
    for header in STANDARD + POSIX:
        text = read(os.path.join(zig_folder(), "lib", "libc", "include", "generic-musl", f"{header}.h"))
        names |= set(re.findall(r"\b([a-z_]\w+)\s*\(", text)) | set(re.findall(r"#define\s+(\w+)", text))
    return names


def depends_on_platform(path, names):
    text = read(path)
    if re.search(r"^\s*#(if|elseif)\b", text, re.M):
        return True
    code = re.sub(r'//.*|"""[\s\S]*?"""|"(?:\\.|[^"\\\n])*"|\bfunc \w+', "", text)
    used = re.findall(r"(?<![\w.`])([a-z_]\w*)(?=\()|(?<![\w.])([A-Z][A-Z_0-9]{2,})\b", code)
    return any(name in names for pair in used for name in pair)


class SwiftCheck:
    """The modules of a platform, and the sources against them."""

    def __init__(self, platform, folder, names):
        self.platform, self.folder, self.names = platform, folder, names
        self.headers = [os.path.join(zig_folder(), "lib", "libc", "include", name) for name in platform.headers]
        self.modules = os.path.join(folder, "modules")
        self.problems = []
        self.make_library()
        self.make_headers()
        self.arguments = [
            "-target", platform.triple, "-resource-dir", os.path.join(folder, "lib"), "-sdk", os.path.join(folder, "none"),
            "-module-cache-path", os.path.join(folder, "cache"), "-plugin-path", os.path.join(USR, "lib/swift/host/plugins"),
            "-disable-objc-interop", "-I", self.modules]
        # The map is named, so that modules inside Foundation take the headers of these modules as well.
        for_c = ["-nostdlibinc", f"-fmodule-map-file={self.modules}/module.modulemap"]
        for_c += [f"-I{ROOT}/Sources/{name}/include" for name in TARGETS_OF_C]
        for_c += [part for header in [os.path.join(folder, "headers")] + self.headers for part in ["-isystem", header]]
        if platform.name == "Windows":
            # What the headers of mingw-w64 have otherwise than Microsoft's: the name of C's BOOL, and which type has 32 bits.
            for_c += ["-DHAVE_MODE_T", "-DWINBOOL=BOOL", "-D__LP64__"]
        self.arguments += [argument for part in for_c for argument in ["-Xcc", part]]

    def make_library(self):
        """The modules of the compiler, as if they were of the platform."""
        own, library = os.path.join(USR, "lib", "swift"), os.path.join(self.folder, "lib")
        os.makedirs(library)
        for name in os.listdir(own):
            if name in EMPTY.get(self.platform.name, set()):
                write(os.path.join(library, name, "module.modulemap"), f"module {name} {{}}\n")
            elif name not in {"linux", "embedded", "host", "pm"}:
                os.symlink(os.path.join(own, name), os.path.join(library, name))
        found = glob.glob(os.path.join(own, "linux", "*.swiftmodule", f"{HOST.decode()}.swiftmodule"))
        if not found:
            sys.exit(f"{own} has no modules for {HOST.decode()}, which these checks begin with")
        for path in found:
            name = os.path.basename(os.path.dirname(path)).removesuffix(".swiftmodule")
            if name in LEFT_OUT:
                continue
            with open(path, "rb") as file:
                content = file.read()
            content = content.replace(HOST, self.platform.written.encode())
            # The module of the C library gets a name of the same length, so that `canImport(Glibc)` is false.
            content = re.sub(rb"(?<=\0)Glibc(?=\0)", b"LibC_", content)
            target = os.path.join(library, self.platform.folder, f"{name}.swiftmodule", f"{self.platform.module}.swiftmodule")
            os.makedirs(os.path.dirname(target))
            with open(target, "wb") as file:
                file.write(content)

    def find(self, header):
        return next(path for folder in self.headers if os.path.exists(path := os.path.join(folder, header)))

    def make_headers(self):
        """The modules of C: the platform's library and those of the sources."""
        own = os.path.join(self.folder, "headers")
        maps = [f'module {name} {{ header "{ROOT}/Sources/{name}/include/{HEADERS.get(name, name)}.h" export * }}' for name in TARGETS_OF_C]
        module, headers = "CPosix", STANDARD + POSIX
        os.makedirs(self.modules)
        if self.platform.name == "Windows":
            module, headers = "CRuntime", STANDARD + ["io", "sys/types", "sys/stat"]
            write(os.path.join(self.modules, "CWindows.h"), "#include <winsock2.h>\n#include <windows.h>\n")
            maps.append('module CWindows [system] { header "CWindows.h" export * }')
            # Swift reads constants only where no macro of mingw-w64 stands around them.
            for name in ["winerror.h", "winnt.h", "winbase.h"]:
                text = re.sub(r"__MSABI_LONG\((\w+)\)", r"\1", read(self.find(name)))
                write(os.path.join(own, name), text)
            # The compiler's own module of intrinsics would define the inline functions of malloc.h once more.
            write(os.path.join(own, "mm_malloc.h"), "")
        elif self.platform.name == "Android":
            owned = " ".join(f'header "{self.find(name + ".h")}"' for name in STANDARD)
            maps.append(f"module Bionic [system] {{ {owned} export * }}")
            for name in ["Bionic", "CPosix"]:
                shutil.copy(os.path.join(PARTS, f"{name}.apinotes"), self.modules)
            write(os.path.join(own, "android", "api-level.h"), "#define __ANDROID_API__ 28\n")
        elif self.platform.library == "Darwin":
            # Where modules are on, the headers include each other in a circle, which Apple's map of modules unties.
            for name, type in [("size_t", "__SIZE_TYPE__"), ("rsize_t", "__SIZE_TYPE__"), ("ptrdiff_t", "__PTRDIFF_TYPE__"),
                               ("wchar_t", "__WCHAR_TYPE__"), ("va_list", "__builtin_va_list")]:
                write(os.path.join(own, "sys", "_types", f"_{name}.h"), f"typedef {type} {name};\n")
        write(os.path.join(self.modules, f"{module}.h"), "".join(f"#include <{name}.h>\n" for name in headers))
        maps.append(f'module {module} [system] {{ header "{module}.h" export * }}')
        write(os.path.join(self.modules, "module.modulemap"), "\n".join(maps) + "\n")

    def compile(self, *options):
        if not any(os.path.basename(option) == "main.swift" for option in options):
            options = ["-parse-as-library", *options]
        result = run(os.path.join(USR, "bin", "swiftc"), "-frontend", *self.arguments, *options)
        errors = re.findall(r"^\S.*(?:error|warning): .*$", result.stdout, re.M)
        errors = [error for error in errors if "no such sysroot" not in error and "libc not found" not in error]
        if result.returncode and not errors:
            errors = [result.stdout[-2000:]]
        self.problems += [f"{error.replace(ROOT + '/', '').replace(self.folder + '/', '')} [{self.platform.name}]" for error in errors]
        return not errors

    def emit(self, name, files, *options):
        """Makes a module of files, with the bodies of no functions."""
        return self.compile(
            "-emit-module", "-experimental-skip-all-function-bodies", "-module-name", name, "-o",
            os.path.join(self.modules, f"{name}.swiftmodule"), *files, *options)

    def type_check(self, name, files, chosen, *options):
        """Checks the bodies of some files of a module."""
        primary = [argument for file in files for argument in (["-primary-file", file] if file in chosen else [file])]
        return not chosen or self.compile("-typecheck", "-module-name", name, *primary, *options)

    def make_modules(self):
        """The platform's modules of Swift."""
        def stub(name, text):
            path = os.path.join(self.folder, "stubs", f"{name}.swift")
            write(path, text)
            return self.emit(name, [path])

        name = self.platform.library
        done = self.emit(name, [os.path.join(PARTS, "CLibraries.swift")])
        # What Foundation exports on the platform.
        exported = {"Windows": "CRT", "Android": "Bionic"}.get(self.platform.name, name)
        if self.platform.name == "Windows":
            done = done and stub("CRT", "@_exported public import ucrt\n")
            done = done and self.emit("WinSDK", [os.path.join(PARTS, "WinSDK.swift")])
        done = done and stub("LibC_", f"@_exported public import {exported}\n")
        if done and self.platform.library == "Darwin":
            done = stub("ObjectiveC", "") and self.emit("FoundationOfDarwin", [os.path.join(PARTS, "Foundation+Darwin.swift")])
            self.arguments += ["-import-module", "FoundationOfDarwin"]
        return done

    def check(self, is_all):
        began = time.monotonic()
        bodies = 0
        if self.make_modules():
            for name in MODULES:
                # Devices run no programs of the command line.
                if self.platform.name != "iOS" or name not in {"trellis-gen", "trellis-tool"}:
                    bodies += self.check_module(name, is_all)
            self.check_plugins()
        print(f"{time.monotonic() - began:5.1f} s  {self.platform.name}: the bodies of {bodies} files", flush=True)
        return self.problems

    def check_module(self, target, is_all):
        name = "TrellisTool" if target == "trellis-tool" else target.replace("-", "_")
        files = sources("Sources", target)
        if not self.emit(name, files, *SETTINGS, "-DDEBUG"):
            return 0
        chosen = {file for file in files if is_all or depends_on_platform(file, self.names)}
        self.type_check(name, files, chosen, *SETTINGS, "-DDEBUG")
        # The same with what can be either way on the other one. An older compiler is imitated by the text.
        other = {file for file in files if re.search(rf"^\s*#.*({'|'.join(map(re.escape, EITHER))})", read(file), re.M)}
        copies = {file: os.path.join(self.folder, "second", os.path.relpath(file, ROOT)) for file in other}
        for file, copy in copies.items():
            write(copy, re.sub(r"^(\s*#(?:if|elseif) .*?)compiler\(>=6\.\d\)", r"\1false", read(file), flags=re.M))
        files = [copies.get(file, file) for file in files]
        self.type_check(name, files, set(copies.values()), *SETTINGS)
        return len(chosen)

    def check_plugins(self):
        """Plugins are for hosts of builds, which neither musl's nor Android's are."""
        if self.platform.name not in {"Darwin", "Windows"}:
            return
        api = os.path.join(self.folder, "plugins")
        options = ["-package-description-version", "6.1", "-I", api]
        for path in glob.glob(os.path.join(USR, "lib/swift/pm/PluginAPI/PackagePlugin.swiftmodule")):
            target = os.path.join(api, "PackagePlugin.swiftmodule")
            if os.path.isdir(path):
                path = os.path.join(path, f"{HOST.decode()}.swiftmodule")
                target = os.path.join(target, f"{self.platform.module}.swiftmodule")
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(path, "rb") as file:
                content = file.read().replace(HOST, self.platform.written.encode())
            with open(target, "wb") as file:
                file.write(re.sub(rb"(?<=\0)Glibc(?=\0)", b"LibC_", content))
        if self.platform.library == "Darwin" and not self.emit(
                "XcodeProjectPlugin", [os.path.join(PARTS, "XcodeProjectPlugin.swift")], *options):
            return
        for name in PLUGINS:
            files = sources("Plugins", name)
            self.type_check(name, files, set(files), "-swift-version", "6", *options)


# MARK: - C

def check_c():
    """Checks the C targets for each platform and processor, and runs them where a compiler of Debian and QEMU are installed."""
    began = time.monotonic()
    pure = os.path.join(PARTS, "PureFunctions.c")
    files = [pure] + [file for name in TARGETS_OF_C for file in sources("Sources", name, endings="c")]
    options = ["-std=gnu11", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Wno-missing-field-initializers", "-Werror"]
    options += [f"-I{ROOT}/Sources/{name}/include" for name in TARGETS_OF_C]
    linked = [file for name in LINKED for file in sources("Sources", name, endings="c")]
    problems = []

    def compiles(where, *command):
        result = run(*command)
        errors = [line.replace(ROOT + "/", "") for line in result.stdout.splitlines() if "error" in line]
        problems.extend(f"{error} [{where}]" for error in errors or [result.stdout[-2000:]] * (result.returncode != 0))
        return result.returncode == 0

    for triple, headers in PROCESSORS:
        folders = [f"-isystem{os.path.join(zig_folder(), 'lib', 'libc', 'include', folder)}" for folder in headers.split()]
        compiles(triple, os.path.join(USR, "bin", "clang"), "-target", triple, "-nostdlibinc", "-fsyntax-only", *folders, *options, *files)
    ran = []
    with tempfile.TemporaryDirectory() as folder:
        here = os.path.join(folder, "here")
        if compiles("here", os.path.join(USR, "bin", "clang"), "-O1", *options, *(file for file in files if file not in linked), "-o", here):
            for name, emulator in RUN:
                compiler = f"{name}-gcc"
                if not (shutil.which(compiler) and shutil.which(emulator)):
                    continue
                program = os.path.join(folder, name)
                if compiles(name, compiler, "-O1", "-static", "-w", *options, *(file for file in files if file not in linked), "-o", program):
                    expected, found = run(here).stdout, run(emulator, program).stdout
                    ran.append(name)
                    if not found or found != expected:
                        problems.append(f"the C functions print on {name}:\n{found}\nand here:\n{expected}")
    print(f"{time.monotonic() - began:5.1f} s  C: {len(files)} files for {len(PROCESSORS)} triples; run on {', '.join(ran) or 'no other'}",
          flush=True)
    return problems


def main():
    is_all, is_listing, compiles = "--all" in sys.argv, "--list" in sys.argv, "--sources" not in sys.argv
    only = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    problems = check_targets() + check_branches(is_listing) + check_widths()
    if compiles and not is_listing:
        names = names_of_c()
        with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            work = [
                pool.submit(lambda platform=platform: SwiftCheck(platform, os.path.join(folder, platform.name), names).check(is_all))
                for platform in PLATFORMS if not only or platform.name in only]
            if not only or "C" in only:
                work.append(pool.submit(check_c))
            for part in work:
                problems += part.result()
    if problems:
        sys.exit("\n".join(dict.fromkeys(problems)))


main()
