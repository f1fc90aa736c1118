#!/usr/bin/env python3
"""Writes the functions of a store on a server, Sources/TrellisPostgres/Functions, from fold.sql, search.sql and
numbers.sql.

The tables of folding and searching are those of Swift: the script compiles TextFolding and SearchScalar with the toolchain
and asks them about each scalar. Run it again when the toolchain has a newer version of Unicode, and raise ServerFunctions.version.

    python3 Tests/TrellisPostgresTests/Functions/make_functions.py

With --check it writes nothing, and fails if a file differs.
"""
import os, re, subprocess, sys, tempfile
from decimal import Decimal, getcontext

getcontext().prec = 3000
here = os.path.dirname(os.path.abspath(__file__))
root = os.path.join(here, '../../..')


def tables():
    """The lines of each scalar with anything of note: diacritic, combining class, folded, NFD, NFC; and the age of marks."""
    query = open(os.path.join(root, 'Sources/TrellisModel/Query/Tree/QueryPredicate.swift'), encoding='utf-8').read()
    search = open(os.path.join(root, 'Sources/TrellisStorage/Search/SearchQuery.swift'), encoding='utf-8').read()
    options = re.search(r'^public struct TextOptions.*?^}', query, re.S | re.M).group(0)
    folding = re.search(r'^public enum TextFolding.*?^}', search, re.S | re.M).group(0)
    roles = re.search(r'^enum SearchScalar.*?^}', search, re.S | re.M).group(0)
    program = open(os.path.join(here, 'print_tables.swift'), encoding='utf-8').read()
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, 'folding.swift'), 'w', encoding='utf-8') as file:
            file.write('import Foundation\n' + options + '\n' + folding.replace('private static func', 'static func'))
            file.write('\n' + roles)
        with open(os.path.join(folder, 'main.swift'), 'w', encoding='utf-8') as file:
            file.write(program)
        tool = os.path.join(folder, 'tables')
        subprocess.run(['swiftc', '-O', 'main.swift', 'folding.swift', '-o', tool], cwd=folder, check=True)
        return subprocess.run([tool], check=True, capture_output=True, text=True).stdout.splitlines()


S = {}
young = set()
roles = {}
for line in tables():
    if line.startswith('role;'):
        _, role, first, last = line.split(';')
        roles.setdefault(role, []).append((int(first, 16), int(last, 16)))
        continue
    c, mark, ccc, folded, nfd_, nfc_, is_young = line.split(';')
    h = lambda t: [int(x, 16) for x in t.split()]
    S[int(c, 16)] = (int(mark), int(ccc), h(folded), h(nfd_), h(nfc_))
    if is_young == '1': young.add(int(c, 16))


def get(c): return S.get(c, (0, 0, [c], [c], [c]))
def nfd(c): return get(c)[3]
def fold(c): return get(c)[2]

def ranges(chars):
    out = []
    for c in sorted(chars):
        if out and out[-1][1] == c - 1: out[-1][1] = c
        else: out.append([c, c])
    return out

def esc(c): return '\\u%04X' % c if c < 0x10000 else '\\U%08X' % c
def cls(chars):
    r = ''
    for a, b in ranges(chars):
        r += esc(a) if a == b else esc(a) + ('-' if b > a + 1 else '') + esc(b)
    return r

marks = {c for c in S if get(c)[0] and nfd(c) == [c]}
# Marks occur in decomposed texts only; a class may also hold what never occurs there. Unassigned code points may not.
casing = {c: fold(c) for c in S if fold(c) != [c] and nfd(c) == [c] and c >= 0x80}
for c, f in casing.items():      # what the order of the steps relies on
    for x in f:
        assert fold(x) == [x] and nfd(x) == [x] and not get(x)[0], hex(c)
one = {c: f[0] for c, f in casing.items() if len(f) == 1}
many = {c: f for c, f in casing.items() if len(f) > 1}

groups = [  # name, ranges
    ('frequent Latin', [(0x80, 0xFF), (0x110, 0x110), (0x141, 0x141), (0x152, 0x152)]),
    ('Greek', [(0x391, 0x3A9), (0x3C2, 0x3C2), (0x345, 0x345)]),
    ('Cyrillic', [(0x410, 0x42F)]),
    ('more Greek', [(0x370, 0x3FF)]),
    ('Cyrillic of other languages', [(0x400, 0x40F)]),
    ('more Cyrillic', [(0x460, 0x52F), (0x1C80, 0x1C8F), (0xA640, 0xA69F)]),
    ('more Latin', [(0x180, 0x2AF), (0x1E00, 0x1EFF), (0x2100, 0x214F), (0x2C60, 0x2C7F), (0xA720, 0xA7FF)]),
    ('Armenian', [(0x530, 0x58F)]),
    ('Georgian', [(0x10A0, 0x10FF), (0x1C90, 0x1CBF)]),
    ('wide', [(0xFF00, 0xFFFF)]),
    ('numbers', [(0x2160, 0x218F), (0x24B0, 0x24FF)]),
    ('Cherokee', [(0x13A0, 0x13FF), (0xAB70, 0xABBF)]),
    ('Glagolitic and Coptic', [(0x2C00, 0x2C5F), (0x2C80, 0x2CFF)]),
]
rest = dict(one)
def step(name, table, depth):
    a = ''.join(chr(c) for c in sorted(table)); b = ''.join(chr(table[c]) for c in sorted(table))
    i = '  ' * depth
    return f"{i}-- {name}\n{i}IF v ~ $r$[{cls(table)}]$r$ THEN\n{i}  v := pg_catalog.translate(v, '{a}', '{b}');\n{i}END IF;\n"
steps, seldom = [], []
for name, rs in groups:
    table = {c: f for c, f in rest.items() if any(a <= c <= b for a, b in rs)}
    for c in table: del rest[c]
    if len(steps) < 3: steps.append(step(name, table, 3))
    else:
        if not seldom: others = set(rest) | set(table)
        seldom.append(step(name, table, 4))
bmp = {c: f for c, f in rest.items() if c < 0x10000}
seldom.append(step('others', bmp, 4))
# Beyond U+FFFF: one table for each script.
blocks = {}
for c in rest:
    if c >= 0x10000: blocks.setdefault(c >> 8, {})[c] = rest[c]
inner = ''.join(step('U+%X00' % k, blocks[k], 5) for k in sorted(blocks))
seldom.append(f"        IF v ~ $r$[{esc(0x10000)}-{esc(0x1FFFF)}]$r$ THEN\n{inner}        END IF;\n")
steps.append(f"      IF v ~ $r$[{cls(others)}]$r$ THEN\n{''.join(seldom)}      END IF;\n")
m = {c: f for c, f in many.items() if c != 0xDF}
expansions = f"        IF u ~ $r$[{cls(m)}]$r$ THEN\n"
for c in sorted(m):
    expansions += f"          d := pg_catalog.replace(d, '{chr(c)}', '{''.join(map(chr, m[c]))}');\n"
expansions += "        END IF;\n"

# Scalars that no option changes and that no neighbour changes: class 0, no part of a composition but its first scalar.
seconds = {x for c in S for x in nfd(c)[1:]} | set(range(0x1161, 0x1176)) | set(range(0x11A8, 0x11C3))
def active_class(option):
    """What the option changes, or what a neighbour may change. Short gaps count as well, to keep the class short."""
    active = set()
    for c in list(range(0x80, 0xD800)) + list(range(0xE000, 0x110000)):
        mark, ccc, f, d, n = get(c)
        if ccc or n != [c] or c in seconds or d[0] in seconds or get(d[0])[1]: active.add(c)
        elif option & 2 and any(get(x)[0] for x in d): active.add(c)
        elif option & 1 and any(fold(x) != [x] for x in d): active.add(c)
    for c in range(0xAC00, 0xD7A4): assert c not in active
    runs = []
    for a, b in ranges(active):
        # Unassigned code points next to active ones count as active.
        if runs and a - runs[-1][1] < 16 and not (b < 0x530 or 0x1E00 <= a < 0x3200): runs[-1][1] = b
        else: runs.append([a, b])
    return ''.join(esc(a) + ('-' + esc(b) if b > a else '') for a, b in runs)

# Where Foundation's normalization differs from the server's.
attaching = {c for c in S if get(c)[1] or nfd(c)[0] in seconds or get(nfd(c)[0])[1]} | {c for c in seconds}
tibetan = {c for c in S if get(c)[1] == 0 and get(nfd(c)[0])[1]}
unknown = f"[{cls(young | tibetan | {0x1113, 0x1176, 0x11A7, 0x11C3})}]|[{esc(0x10000)}-{esc(0x10FFFF)}][{cls(attaching)}]|[\\uAC00-\\uD7A3][\\u11A8-\\u11C2]"


def filled(text):
    """The constants of numbers.sql."""
    def value(m):
        kind, e = m.group(1), int(m.group(2))
        if kind == 'F': return repr(2.0 ** e) + '::float8'  # a power of 2 as a real
        if kind == 'V': return str(5 ** e)
        return format(Decimal(1) / Decimal(2 ** -e) if e < 0 else Decimal(2 ** e), 'f')
    text = re.sub(r'@([FNV])(-?\d+)@', value, text)
    return text.replace('@TOO_LARGE@', str(2 ** 1024 - 2 ** 970))


def read(name): return open(os.path.join(here, name), encoding='utf-8').read()


text = read('fold.sql')
for key, value in {
    '@marks@': cls(marks), '@casing@': cls(set(one) | set(many)), '@expanding@': cls(many), '@expandinglist@': ''.join(map(chr, sorted(many))), '@expansions@': expansions.rstrip(), '@steps@': ''.join(steps).rstrip(),
    '@unknown@': unknown,
    '@active1@': active_class(1), '@active2@': active_class(2), '@active3@': active_class(3), '@active4@': active_class(4),
    '@seconds@': cls(seconds),
}.items():
    assert key in text, key
    text = text.replace(key, value)


def shortened(found):
    """Ranges with the unassigned scalars between them: no text with one gets so far."""
    gaps = set(roles['unassigned'])
    out = []
    for a, b in found:
        if out and (out[-1][1] + 1, a - 1) in gaps: out[-1][1] = b
        else: out.append([a, b])
    return out


search = read('search.sql')
for role, found in roles.items():
    assert f'@{role}@' in search, role
    found = found if role == 'unassigned' else shortened(found)
    search = search.replace(f'@{role}@', ''.join(esc(a) + ('-' + esc(b) if b > a else '') for a, b in found))


def write(name, about, text):
    """A Swift file with the statements of a text, each with its comment."""
    parts = re.split(r'\n(?=(?:--[^\n]*\n)*CREATE OR REPLACE)', re.sub(r'^-- MARK[^\n]*\n+', '', text, flags=re.M))
    statements = [part.strip() for part in parts if 'CREATE OR REPLACE' in part]
    lines = ['// Written by Tests/TrellisPostgresTests/Functions/make_functions.py. Do not edit.', '',
             'extension ServerFunctions {', '  /// ' + about, f'  static let {name}: [String] = [']
    for statement in statements:
        body = re.sub(r'^--[^\n]*\n', '', statement, flags=re.M).rstrip().rstrip(';')
        assert '@' not in body.replace('@schema@', ''), body[:200]
        lines += ['    #"""'] + ['    ' + line if line else '' for line in body.split('\n')]
        # The format of the project has no comma after an only element.
        lines.append('    """#,' if len(statements) > 1 else '    """#')
    lines += ['  ]', '}', '']
    path = os.path.join(root, 'Sources/TrellisPostgres/Functions', name[0].upper() + name[1:] + '.swift')
    if '--check' in sys.argv[1:]:
        if open(path, encoding='utf-8').read() != '\n'.join(lines):
            sys.exit(f'{os.path.relpath(path, root)} is not what {os.path.basename(__file__)} writes: run it')
    else:
        open(path, 'w', encoding='utf-8').write('\n'.join(lines))
    print(len(statements), 'functions,', len('\n'.join(lines).encode()), 'bytes in', os.path.basename(path))


write('foldingFunctions', 'The folding of texts.', text)
write('searchFunctions', 'The tokens of texts for an index.', search)
write('numberFunctions', 'Arithmetic, conversions and sums.', filled(read('numbers.sql')))
