#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include "CTestDisk.h"

#include "CSQLite.h"

#include <stdlib.h>
#include <string.h>

#if defined(__linux__)
#include <sys/fsuid.h>
#include <unistd.h>
#endif

// The structures of SQLite's file systems. Their layout is part of SQLite's promise; newer fields stand at the ends.
typedef struct file file;
typedef struct vfs vfs;

typedef struct methods {
  int version;
  int (*close)(file *);
  int (*read)(file *, void *, int, int64_t);
  int (*write)(file *, const void *, int, int64_t);
  int (*truncate)(file *, int64_t);
  int (*sync)(file *, int);
  int (*size)(file *, int64_t *);
  int (*lock)(file *, int);
  int (*unlock)(file *, int);
  int (*is_reserved)(file *, int *);
  int (*control)(file *, int, void *);
  int (*sector_size)(file *);
  int (*characteristics)(file *);
  int (*map)(file *, int, int, int, void volatile **);
  int (*map_lock)(file *, int, int, int);
  void (*map_barrier)(file *);
  int (*unmap)(file *, int);
} methods;

struct file {
  const methods *methods;
};

struct vfs {
  int version;
  int file_size;
  int path_size;
  vfs *next;
  const char *name;
  void *data;
  int (*open)(vfs *, const char *, file *, int, int *);
  int (*delete)(vfs *, const char *, int);
  int (*access)(vfs *, const char *, int, int *);
  int (*full_path)(vfs *, const char *, int, char *);
  void *(*dl_open)(vfs *, const char *);
  void (*dl_error)(vfs *, int, char *);
  void (*(*dl_symbol)(vfs *, void *, const char *))(void);
  void (*dl_close)(vfs *, void *);
  int (*randomness)(vfs *, int, char *);
  int (*sleep)(vfs *, int);
  int (*time)(vfs *, double *);
  int (*last_error)(vfs *, int, char *);
  int (*time_int64)(vfs *, int64_t *);
};

enum { open_create = 0x4, open_journal = 0x800, open_super_journal = 0x4000, open_wal = 0x80000 };
enum { most_watches = 64 };

typedef struct {
  char *prefix;
  trellis_disk_observer observer;
  void *context;
} watch;

static watch watches[most_watches];
static vfs *usual;
static vfs watching;
static int lock_word;

static void lock(void) {
  while (__atomic_exchange_n(&lock_word, 1, __ATOMIC_ACQUIRE)) {}
}
static void unlock(void) { __atomic_store_n(&lock_word, 0, __ATOMIC_RELEASE); }

/// A file that is watched: this, and behind it the one of the usual file system.
typedef struct {
  file base;
  watch *watch;
  char *path;
  /// Whether the next sync brings the folder to the disk too, as the usual file system does with new journals and logs.
  int syncs_folder;
} watched;

static file *inner(file *f) { return (file *)((char *)f + sizeof(watched)); }

static watch *find(const char *path) {
  watch *found = NULL;
  lock();
  for (int i = 0; path && i < most_watches && !found; i++)
    if (watches[i].prefix && strncmp(path, watches[i].prefix, strlen(watches[i].prefix)) == 0) found = &watches[i];
  unlock();
  return found;
}

static int ask(const watch *watch, trellis_disk_step *step) { return watch->observer(watch->context, step); }

// Files.

static int file_close(file *f) {
  watched *w = (watched *)f;
  int code = inner(f)->methods->close(inner(f));
  free(w->path);
  return code;
}

static int file_read(file *f, void *bytes, int count, int64_t offset) {
  watched *w = (watched *)f;
  trellis_disk_step step = {trellis_disk_read, w->path, offset, count, NULL, 0};
  int code = ask(w->watch, &step);
  return code ? code : inner(f)->methods->read(inner(f), bytes, count, offset);
}

static int file_write(file *f, const void *bytes, int count, int64_t offset) {
  watched *w = (watched *)f;
  trellis_disk_step step = {trellis_disk_write, w->path, offset, count, bytes, 0};
  int code = ask(w->watch, &step);
  if (code && step.length == 0) return code;
  int written = inner(f)->methods->write(inner(f), bytes, (int)step.length, offset);
  return code ? code : written;
}

static int file_truncate(file *f, int64_t size) {
  watched *w = (watched *)f;
  trellis_disk_step step = {trellis_disk_truncate, w->path, 0, size, NULL, 0};
  int code = ask(w->watch, &step);
  return code ? code : inner(f)->methods->truncate(inner(f), size);
}

static int file_sync(file *f, int flags) {
  watched *w = (watched *)f;
  trellis_disk_step step = {trellis_disk_sync, w->path, 0, 0, NULL, w->syncs_folder};
  int code = ask(w->watch, &step);
  if (!code) code = inner(f)->methods->sync(inner(f), flags);
  if (!code) w->syncs_folder = 0;
  return code;
}

static int file_size(file *f, int64_t *size) { return inner(f)->methods->size(inner(f), size); }
static int file_lock(file *f, int level) { return inner(f)->methods->lock(inner(f), level); }
static int file_unlock(file *f, int level) { return inner(f)->methods->unlock(inner(f), level); }
static int file_is_reserved(file *f, int *result) { return inner(f)->methods->is_reserved(inner(f), result); }
static int file_control(file *f, int operation, void *data) {
  return inner(f)->methods->control(inner(f), operation, data);
}
static int file_sector_size(file *f) { return inner(f)->methods->sector_size(inner(f)); }
static int file_characteristics(file *f) { return inner(f)->methods->characteristics(inner(f)); }

static int file_map(file *f, int region, int size, int extend, void volatile **memory) {
  watched *w = (watched *)f;
  trellis_disk_step step = {trellis_disk_map, w->path, 0, 0, NULL, 0};
  int code = ask(w->watch, &step);
  return code ? code : inner(f)->methods->map(inner(f), region, size, extend, memory);
}

static int file_map_lock(file *f, int offset, int count, int flags) {
  return inner(f)->methods->map_lock(inner(f), offset, count, flags);
}
static void file_map_barrier(file *f) { inner(f)->methods->map_barrier(inner(f)); }
static int file_unmap(file *f, int deletes) { return inner(f)->methods->unmap(inner(f), deletes); }

static const methods file_methods = {
    2,           file_close,        file_read,    file_write,       file_truncate,        file_sync, file_size,     file_lock,
    file_unlock, file_is_reserved, file_control, file_sector_size, file_characteristics, file_map,  file_map_lock, file_map_barrier,
    file_unmap,
};

// The file system.

static int open_file(vfs *self, const char *path, file *f, int flags, int *given) {
  (void)self;
  watch *watch = find(path);
  if (!watch) return usual->open(usual, path, f, flags, given);
  f->methods = NULL;
  trellis_disk_step step = {trellis_disk_open, path, 0, 0, NULL, (flags & open_create) != 0};
  int code = ask(watch, &step);
  if (code) return code;
  watched *w = (watched *)f;
  w->path = strdup(path);
  if (!w->path) return TRELLIS_SQLITE_NOMEM;
  w->watch = watch;
  w->syncs_folder = (flags & open_create) && (flags & (open_journal | open_super_journal | open_wal));
  code = usual->open(usual, path, inner(f), flags, given);
  if (code) {
    free(w->path);
    return code;
  }
  f->methods = &file_methods;
  return code;
}

static int delete_file(vfs *self, const char *path, int syncs_folder) {
  (void)self;
  watch *watch = find(path);
  if (watch) {
    trellis_disk_step step = {trellis_disk_delete, path, 0, 0, NULL, syncs_folder};
    int code = ask(watch, &step);
    if (code) return code;
  }
  return usual->delete(usual, path, syncs_folder);
}

static int start(void) {
  if (usual) return 1;
  if (trellis_sqlite_load()) return 0;
  vfs *found = trellis_sqlite3_vfs_find(NULL);
  if (!found) return 0;
  // All but these two is the usual file system's own, which does not look at whose table it was called by.
  watching = *found;
  watching.version = found->version < 2 ? found->version : 2;
  watching.file_size = (int)sizeof(watched) + found->file_size;
  watching.next = NULL;
  watching.name = "trellis-test-disk";
  watching.open = open_file;
  watching.delete = delete_file;
  usual = found;
  return trellis_sqlite3_vfs_register(&watching, 1) == 0;
}

int trellis_disk_watch(const char *prefix, trellis_disk_observer observer, void *context) {
  int number = -1;
  lock();
  if (start())
    for (int i = 0; i < most_watches && number < 0; i++)
      if (!watches[i].prefix) number = i;
  if (number >= 0) {
    watches[number] = (watch){strdup(prefix), observer, context};
    if (!watches[number].prefix) number = -1;
  }
  unlock();
  return number;
}

void trellis_disk_unwatch(int number) {
  if (number < 0 || number >= most_watches) return;
  lock();
  free(watches[number].prefix);
  watches[number].prefix = NULL;
  unlock();
}

int trellis_disk_act_as_stranger(int on) {
#if defined(__linux__)
  if (geteuid() != 0) return 0;
  const uid_t stranger = 65534;
  setfsuid(on ? stranger : 0);
  return setfsuid((uid_t)-1) == (int)(on ? stranger : 0);
#else
  (void)on;
  return 0;
#endif
}
