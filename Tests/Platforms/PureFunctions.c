// The functions of C targets that need no library, on many inputs. What it prints has to be the same on every processor.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "CDigest.h"
#include "CPQ.h"
#include "CSQLite.h"

static uint64_t state = 1;

static uint32_t next(uint32_t below) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(state >> 33) % below;
}

static int filled(char *text, const char *letters) {
  int count = (int)next(9);
  for (int i = 0; i < count; i++) text[i] = letters[next((uint32_t)strlen(letters))];
  return count;
}

int main(void) {
  uint64_t digest = 14695981039346656037u;
  for (int i = 0; i < 200000; i++) {
    char a[16], b[16];
    int count = filled(a, "-+0129.5"), other = filled(b, "-+0129.5");
    int order = trellis_decimal_compare(a, count, b, other);
    digest = (digest ^ (uint64_t)(order < 0 ? 1 : order > 0 ? 2 : 3)) * 1099511628211u;
    count = filled(a, "ab"), other = filled(b, "ab") % 4;
    int is_inside = trellis_is_inside((unsigned char *)a, (size_t)count, (unsigned char *)b, (size_t)other);
    digest = (digest ^ (uint64_t)is_inside) * 1099511628211u;
  }
  uint32_t counter = 0x01020304;
  printf("%016" PRIx64 " %x %d %d\n", digest, (unsigned)trellis_sqlite_read_counter(&counter), trellis_thread_leases(3),
    trellis_pq_thread_leases(-2));
  printf("%d\n", (int)sizeof(struct trellis_sha256));
  // Whether a library is there is different; a sentence or none comes of each.
  (void)trellis_sqlite_load();
  (void)trellis_pq_load();
  struct trellis_sha256 hash;
  (void)trellis_sha256_begin(&hash);
  return 0;
}
