// A file system for SQLite that stands before the usual one. For files in folders that a test watches, it asks the test before
// each step that changes the disk or opens a file; all other files go by untouched.
#ifndef TRELLIS_TEST_DISK_H
#define TRELLIS_TEST_DISK_H

#include <stdint.h>

enum trellis_disk_kind {
  trellis_disk_open,
  trellis_disk_write,
  trellis_disk_truncate,
  trellis_disk_sync,
  trellis_disk_delete,
  trellis_disk_read,
  trellis_disk_map,
};

/// One step, before it is done.
typedef struct {
  int kind;
  const char *path;
  int64_t offset;
  /// How many bytes are written, or what is left by a truncation. The test may lower it for a write that it fails.
  int64_t length;
  const void *bytes;
  /// With a sync or a delete: the names in the folder are brought to the disk too. With an open: the file may be made.
  int includes_folder;
} trellis_disk_step;

/// Returns 0 to let the step be done, else SQLite's code of the failure. A write that fails writes its first bytes, as many as
/// are left of its length.
typedef int (*trellis_disk_observer)(void *context, trellis_disk_step *step);

/// Watches the files whose paths begin with `prefix`, from their next opening on.
/// Returns a number to end it with; negative when too many are watched, or SQLite is not there.
int trellis_disk_watch(const char *prefix, trellis_disk_observer observer, void *context);
/// No file that was opened under the watch may be open any more.
void trellis_disk_unwatch(int number);

/// Lets the thread act on files as another user, who owns nothing; 0 gives its own rights back.
/// Returns 0 where the system or the user cannot do that.
int trellis_disk_act_as_stranger(int on);

#endif
