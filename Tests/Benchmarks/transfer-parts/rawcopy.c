// Copies a SQLite database by hand: prepared inserts in one transaction, indexes afterwards.
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(sqlite3 *db, int code) {
  if (code != SQLITE_OK && code != SQLITE_DONE && code != SQLITE_ROW) {
    fprintf(stderr, "%s\n", sqlite3_errmsg(db));
    exit(1);
  }
}

static void copy_table(sqlite3 *from, sqlite3 *to, const char *name) {
  char sql[65536];
  snprintf(sql, sizeof sql, "SELECT * FROM \"%s\"", name);
  sqlite3_stmt *source, *target;
  check(from, sqlite3_prepare_v2(from, sql, -1, &source, 0));
  int count = sqlite3_column_count(source);
  snprintf(sql, sizeof sql, "INSERT INTO \"%s\" VALUES (?", name);
  for (int i = 1; i < count; i++) strcat(sql, ", ?");
  strcat(sql, ")");
  check(to, sqlite3_prepare_v2(to, sql, -1, &target, 0));
  while (sqlite3_step(source) == SQLITE_ROW) {
    for (int i = 0; i < count; i++) sqlite3_bind_value(target, i + 1, sqlite3_column_value(source, i));
    check(to, sqlite3_step(target));
    sqlite3_reset(target);
  }
  sqlite3_finalize(source);
  sqlite3_finalize(target);
}

int main(int argc, char **argv) {
  sqlite3 *from, *to;
  check(0, sqlite3_open_v2(argv[1], &from, SQLITE_OPEN_READONLY, 0));
  check(0, sqlite3_open(argv[2], &to));
  sqlite3_exec(to, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -16384; BEGIN", 0, 0, 0);
  sqlite3_stmt *parts;
  const char *order[] = {"table", "index"};
  for (int kind = 0; kind < 2; kind++) {
    check(from, sqlite3_prepare_v2(from, "SELECT name, sql FROM sqlite_schema WHERE type = ?1 AND sql IS NOT NULL", -1, &parts, 0));
    sqlite3_bind_text(parts, 1, order[kind], -1, SQLITE_STATIC);
    while (sqlite3_step(parts) == SQLITE_ROW) {
      check(to, sqlite3_exec(to, (const char *)sqlite3_column_text(parts, 1), 0, 0, 0));
      if (kind == 0) copy_table(from, to, (const char *)sqlite3_column_text(parts, 0));
    }
    sqlite3_finalize(parts);
  }
  check(to, sqlite3_exec(to, "COMMIT", 0, 0, 0));
  sqlite3_close(from);
  sqlite3_close(to);
  return 0;
}
