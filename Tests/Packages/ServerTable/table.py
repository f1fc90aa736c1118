#!/usr/bin/env python3
"""Times calls of a store on PostgreSQL beside the same work by hand: SQL through psql, and a C program with libpq.

    Tests/Packages/ServerTable/table.py [--rows N] [--calls N] [--rounds N] [--only-calls] [--program PATH]

Makes a server of its own, fills two schemas with the same rows, a store and tables by hand, and runs each work on both in turn.
Prints milliseconds and the growth of the program's memory in MB for statements, and calls a second for calls. Needs PostgreSQL,
clang or gcc, and libpq's header.
"""
import argparse, pathlib, re, subprocess, sys, tempfile

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent / "Chaos"))
from server import Server

FILL = """
INSERT INTO {schema}."Owner" (_id, _version, name) SELECT n, 1, 'owner ' || n FROM generate_series(1::bigint, {owners}) AS n;
INSERT INTO {schema}."Big" (_id, _version, number, title, note, amount, price, kind, owner)
SELECT {owners} + n, 1, n, 'Title ' || (n * 7919 % 1000003),
  concat_ws(' ', 'w' || n % 1999, 'word' || n % 997, 'of', 'd' || n % 3001, 'x' || n * 31 % 2003,
    CASE WHEN n % 50000 = 0 THEN 'Kumquat' ELSE 'common' END),
  (n * 37 % 100000) / 100.0, (n * 11 % 100000) / 100.0, n % 100,
  CASE WHEN n <= {owners} * 8 THEN (n - 1) / 8 + 1 END
FROM generate_series(1::bigint, {rows}) AS n;
"""

BY_HAND = """
CREATE SCHEMA hand;
CREATE TABLE hand."Owner" (_id bigint PRIMARY KEY, _version bigint NOT NULL, name text NOT NULL);
CREATE TABLE hand."Big" (_id bigint PRIMARY KEY, _version bigint NOT NULL, number bigint NOT NULL UNIQUE,
  title text NOT NULL, note text NOT NULL, amount double precision NOT NULL, price numeric NOT NULL, kind bigint NOT NULL,
  owner bigint REFERENCES hand."Owner" DEFERRABLE);
"""

INDEXES_BY_HAND = """
CREATE INDEX ON hand."Big" (owner);
CREATE INDEX ON hand."Big" USING gin (to_tsvector('simple', note));
CREATE INDEX ON hand."Big" USING gin (lower(note) gin_trgm_ops);
"""

STATEMENTS = {
    "matching, a rare word":
        """SELECT * FROM hand."Big" WHERE to_tsvector('simple', note) @@ to_tsquery('simple', 'kumquat')""",
    "CONTAINS[cd]": """SELECT * FROM hand."Big" WHERE lower(note) LIKE '%kumquat%'""",
    "==[c]": """SELECT * FROM hand."Big" WHERE lower(title) = 'title 77777'""",
    "sorted by [c], limit 10": """SELECT * FROM hand."Big" ORDER BY lower(title) LIMIT 10""",
    "@sum of members > 100":
        """SELECT * FROM hand."Owner" AS o WHERE (SELECT sum(amount) FROM hand."Big" AS b WHERE b.owner = o._id) > 100""",
    "sum of a double": """SELECT sum(amount) FROM hand."Big" """,
    "sum of a decimal": """SELECT sum(price) FROM hand."Big" """,
    "arithmetic in a condition": """SELECT count(*) FROM hand."Big" WHERE amount * 2 + 1 > 1999""",
}
CHANGES = {
    "updateAll of 200,000": """UPDATE hand."Big" SET amount = amount * 2, _version = _version + 1 WHERE kind < 20""",
    "deleteAll of 200,000": """DELETE FROM hand."Big" WHERE kind < 20""",
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--calls", type=int, default=4_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only-calls", action="store_true", help="only calls, without statements")
    parser.add_argument("--program", help="the program, if it is built already")
    options = parser.parse_args()
    table = options.program or build()

    server = Server()
    with tempfile.TemporaryDirectory() as folder:
        calls = f"{folder}/calls"
        subprocess.run(["cc", "-O2", "-I/usr/include/postgresql", str(here / "calls.c"), "-o", calls, "-lpq", "-lpthread"],
                       check=True)
        try:
            server.start()
            server.psql("ALTER SYSTEM SET fsync = on")
            server.restart("fast")
            compare(server, table, calls, options)
        finally:
            server.stop()
            server.remove()


def build():
    package = ["--package-path", str(here), "-c", "release"]
    subprocess.run(["swift", "build", *package], check=True)
    return run("swift", "build", "--show-bin-path", *package) + "/table"


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def compare(server, table, calls, options):
    fill = dict(rows=options.rows, owners=options.rows // 100)
    server.psql("CREATE EXTENSION IF NOT EXISTS pg_trgm")
    run(table, server.url, "create")
    # Indexes are made over the filled table, by the next opening.
    indexes = server.psql(
        "SELECT string_agg(format('DROP INDEX bigs.%I', c.relname), '; ') FROM pg_class AS c "
        "WHERE c.relnamespace = 'bigs'::regnamespace AND starts_with(c.relname, '_search')")
    server.psql(indexes or "SELECT 1")
    server.psql(FILL.format(schema="bigs", **fill) + f'UPDATE bigs._keys SET "next" = {options.rows * 2}')
    print("opening that makes the indexes, ms:", run(table, server.url, "create").split("\t")[1])
    server.psql(BY_HAND + FILL.format(schema="hand", **fill) + INDEXES_BY_HAND)
    server.psql("VACUUM ANALYZE; CHECKPOINT")

    def timed(statements, runs):
        rows = {}
        for name, sql in statements.items():
            lines = server.psql("\\timing on\n\\o /dev/null\n" + f"{sql};\n" * runs)
            rows[name] = min(float(value) for value in re.findall(r"Time: ([\d.]+) ms", lines))
        return rows

    def statements(mode, statements, runs):
        by_hand = timed(statements, runs)
        server.psql("VACUUM ANALYZE; CHECKPOINT")
        for line in run(table, server.url, mode).splitlines():
            name, milliseconds, memory, result = line.split("\t")
            ratio = float(milliseconds) / by_hand[name]
            print(f"{name:32}{by_hand[name]:10.1f}{float(milliseconds):10.1f}{ratio:8.2f}{memory:>6}{result:>12}", flush=True)

    heading = f"\n{'milliseconds':32}{'by hand':>10}{'Trellis':>10}{'ratio':>8}{'MB':>6}{'result':>12}"
    if not options.only_calls:
        print(heading)
        statements("read", STATEMENTS, 3)

    print(f"\n{'calls a second':32}{'by hand':>10}{'Trellis':>10}{'ratio':>8}")
    for mode in ("first", "change", "insert"):
        for workers in (1, 4, 16):
            count = str(options.calls // workers)
            best = [0.0, 0.0]
            for _ in range(options.rounds):
                for place, program in enumerate((calls, table)):
                    best[place] = max(best[place], float(run(program, server.url, mode, str(workers), count)))
            print(f"{mode + f', {workers} workers':32}{best[0]:10.0f}{best[1]:10.0f}{best[0] / best[1]:8.2f}", flush=True)

    if not options.only_calls:
        print(heading)
        statements("write", CHANGES, 1)


if __name__ == "__main__":
    main()
