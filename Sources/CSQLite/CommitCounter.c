// The number of commits to a file, read from the index of its log: all processes that use the file share that memory, and
// every commit counts up a word in it (iChange, at byte 8 of the header, as SQLite's walformat.html says).
#include "CSQLite.h"

// The structures of SQLite's files. Their layout is part of SQLite's promise; newer fields stand at the ends.
typedef struct file {
  const struct methods *methods;
} file;

struct methods {
  int version;
  void (*unused[12])(void);
  int (*map)(file *file, int region, int size, int extend, void volatile **memory);
};

enum { file_pointer = 7, region_size = 32768, counter_offset = 8 };

const void *trellis_sqlite_commit_counter(sqlite3 *db) {
  file *opened = NULL;
  int code = trellis_sqlite3_file_control(db, "main", file_pointer, &opened);
  if (code != 0 || opened == NULL || opened->methods == NULL || opened->methods->version < 2) return NULL;
  void volatile *memory = NULL;
  code = opened->methods->map(opened, 0, region_size, 0, &memory);
  if (code != 0 || memory == NULL) return NULL;
  return (const char *)memory + counter_offset;
}

uint32_t trellis_sqlite_read_counter(const void *counter) {
  return __atomic_load_n((const uint32_t *)counter, __ATOMIC_ACQUIRE);
}
