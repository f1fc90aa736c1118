// The table function trellis_values(list): a Swift array as a table, without a text in between.
#include "CSQLite.h"

#include "Private.h"

#include <stdlib.h>
#include <string.h>

static const char pointer_type[] = "trellis";

// The structures of SQLite's virtual tables. Their layout is part of SQLite's promise; newer fields stand at the ends.
typedef struct table {
  const void *module;
  int references;
  char *message;
} table;

typedef struct cursor {
  table *table;
  const trellis_list *list;
  int64_t place;
  // The place behind the last one that is read.
  int64_t end;
} cursor;

struct index_constraint {
  int column;
  unsigned char operator_;
  unsigned char usable;
  int term_offset;
};
struct index_orderby {
  int column;
  unsigned char descending;
};
struct index_usage {
  int argument;
  unsigned char omit;
};
typedef struct index_info {
  int constraint_count;
  struct index_constraint *constraints;
  int orderby_count;
  struct index_orderby *orderbys;
  struct index_usage *usages;
  int number;
  char *text;
  int must_free_text;
  int is_ordered;
  double cost;
  int64_t rows;
} index_info;

enum { column_rowid = -1, column_value, column_list, operator_equal = 2 };

static int connect_table(sqlite3 *db, void *data, int count, const char *const *arguments, table **result, char **message) {
  (void)data, (void)count, (void)arguments, (void)message;
  int code = trellis_sqlite3_declare_vtab(db, "CREATE TABLE x(value, list HIDDEN)");
  if (code) return code;
  *result = calloc(1, sizeof(table));
  return *result ? TRELLIS_SQLITE_OK : TRELLIS_SQLITE_NOMEM;
}

static int disconnect_table(table *table) {
  free(table);
  return TRELLIS_SQLITE_OK;
}

// The first argument of filter is the list, the second one the only rowid that is asked for, if there is one.
static int best_index(table *table, index_info *info) {
  (void)table;
  int list = -1, rowid = -1;
  for (int i = 0; i < info->constraint_count; i++) {
    const struct index_constraint *constraint = &info->constraints[i];
    if (constraint->operator_ != operator_equal) continue;
    if (constraint->column == column_list) {
      if (!constraint->usable) return TRELLIS_SQLITE_CONSTRAINT;
      list = i;
    } else if (constraint->column == column_rowid && constraint->usable) {
      rowid = i;
    }
  }
  if (list < 0) return TRELLIS_SQLITE_CONSTRAINT;
  info->usages[list].argument = 1;
  info->usages[list].omit = 1;
  info->cost = 10;
  info->rows = 100;
  if (rowid >= 0) {
    info->usages[rowid].argument = 2;
    info->usages[rowid].omit = 1;
    info->cost = 1;
    info->rows = 1;
  }
  return TRELLIS_SQLITE_OK;
}

static int open_cursor(table *table, cursor **result) {
  (void)table;
  *result = calloc(1, sizeof(cursor));
  return *result ? TRELLIS_SQLITE_OK : TRELLIS_SQLITE_NOMEM;
}

static int close_cursor(cursor *cursor) {
  free(cursor);
  return TRELLIS_SQLITE_OK;
}

static int filter(cursor *cursor, int number, const char *text, int count, sqlite3_value **values) {
  (void)number, (void)text;
  cursor->place = 0;
  cursor->list = count > 0 ? trellis_sqlite3_value_pointer(values[0], pointer_type) : NULL;
  cursor->end = cursor->list ? cursor->list->count : 0;
  if (count > 1) {
    int64_t rowid = trellis_sqlite3_value_int64(values[1]);
    cursor->place = rowid >= 1 && rowid <= cursor->end ? rowid - 1 : cursor->end;
    if (cursor->place < cursor->end) cursor->end = rowid;
  }
  return TRELLIS_SQLITE_OK;
}

static int next(cursor *cursor) {
  cursor->place++;
  return TRELLIS_SQLITE_OK;
}

static int is_at_end(cursor *cursor) { return cursor->place >= cursor->end; }

static int read_column(cursor *cursor, sqlite3_context *context, int column) {
  if (column != column_value || is_at_end(cursor)) return TRELLIS_SQLITE_OK;
  if (cursor->list->keys) {
    trellis_sqlite3_result_int64(context, cursor->list->keys[cursor->place]);
    return TRELLIS_SQLITE_OK;
  }
  const trellis_cell *cell = &cursor->list->cells[cursor->place];
  switch (cell->type) {
    case TRELLIS_SQLITE_INTEGER: trellis_sqlite3_result_int64(context, cell->integer); break;
    case TRELLIS_SQLITE_FLOAT: trellis_sqlite3_result_double(context, cell->real); break;
    // The list outlives the statement's run, so nothing is copied.
    case TRELLIS_SQLITE_TEXT: trellis_sqlite3_result_text(context, cell->bytes, cell->length, NULL); break;
    case TRELLIS_SQLITE_BLOB: trellis_sqlite3_result_blob(context, cell->bytes, cell->length, NULL); break;
    default: trellis_sqlite3_result_null(context);
  }
  return TRELLIS_SQLITE_OK;
}

static int read_rowid(cursor *cursor, int64_t *rowid) {
  *rowid = cursor->place + 1;
  return TRELLIS_SQLITE_OK;
}

static const struct {
  int version;
  int (*create)(sqlite3 *, void *, int, const char *const *, table **, char **);
  int (*connect)(sqlite3 *, void *, int, const char *const *, table **, char **);
  int (*best_index)(table *, index_info *);
  int (*disconnect)(table *);
  int (*destroy)(table *);
  int (*open)(table *, cursor **);
  int (*close)(cursor *);
  int (*filter)(cursor *, int, const char *, int, sqlite3_value **);
  int (*next)(cursor *);
  int (*is_at_end)(cursor *);
  int (*column)(cursor *, sqlite3_context *, int);
  int (*rowid)(cursor *, int64_t *);
  void *unused[16];
} module = {
    .version = 0,
    .connect = connect_table,
    .best_index = best_index,
    .disconnect = disconnect_table,
    .open = open_cursor,
    .close = close_cursor,
    .filter = filter,
    .next = next,
    .is_at_end = is_at_end,
    .column = read_column,
    .rowid = read_rowid,
};

const void *trellis_values_module(void) { return &module; }

// MARK: Lists

trellis_list *trellis_list_create(int64_t count) {
  trellis_list *list = calloc(1, sizeof(trellis_list));
  if (!list) return NULL;
  list->count = count;
  list->cells = calloc(count > 0 ? (size_t)count : 1, sizeof(trellis_cell));
  if (list->cells) return list;
  free(list);
  return NULL;
}

void trellis_list_set_integer(trellis_list *list, int64_t place, int64_t value) {
  list->cells[place].type = TRELLIS_SQLITE_INTEGER;
  list->cells[place].integer = value;
}

void trellis_list_set_real(trellis_list *list, int64_t place, double value) {
  list->cells[place].type = TRELLIS_SQLITE_FLOAT;
  list->cells[place].real = value;
}

int trellis_list_set_bytes(trellis_list *list, int64_t place, int32_t type, const void *bytes, int32_t length) {
  // One byte more, so that an empty text is not a null pointer, which SQLite takes for null.
  char *copy = malloc((size_t)length + 1);
  if (!copy) return 0;
  if (length > 0) memcpy(copy, bytes, (size_t)length);
  copy[length] = 0;
  list->cells[place].type = type;
  list->cells[place].length = length;
  list->cells[place].bytes = copy;
  return 1;
}

static void free_list(void *pointer) {
  trellis_list *list = pointer;
  if (!list) return;
  for (int64_t i = 0; i < list->count; i++) free((void *)list->cells[i].bytes);
  free(list->cells);
  free(list);
}

int trellis_sqlite_bind_list(sqlite3_stmt *stmt, int i, trellis_list *list) {
  return trellis_sqlite3_bind_pointer(stmt, i, list, pointer_type, free_list);
}

int trellis_sqlite_bind_borrowed_list(sqlite3_stmt *stmt, int i, const trellis_list *list) {
  return trellis_sqlite3_bind_pointer(stmt, i, (void *)list, pointer_type, NULL);
}
