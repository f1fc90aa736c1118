// Text search by bytes, and decimal texts by number.
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include "CSQLite.h"

#include "Private.h"

#include <string.h>

typedef struct {
  const unsigned char *bytes;
  size_t count;
} span;

static int read_text(sqlite3_value *value, span *result) {
  if (trellis_sqlite3_value_type(value) != TRELLIS_SQLITE_TEXT) return 0;
  result->bytes = trellis_sqlite3_value_text(value);
  if (!result->bytes) return 0;
  result->count = (size_t)trellis_sqlite3_value_bytes(value);
  return 1;
}

static int is_inside(span text, span part) {
  if (part.count == 0) return 1;
  if (part.count > text.count) return 0;
#if defined(__GLIBC__)
  return memmem(text.bytes, text.count, part.bytes, part.count) != NULL;
#else
  return trellis_is_inside(text.bytes, text.count, part.bytes, part.count);
#endif
}

static void contains(sqlite3_context *context, int count, sqlite3_value **values) {
  span text, part;
  (void)count;
  trellis_sqlite3_result_int64(
      context, read_text(values[0], &text) && read_text(values[1], &part) && is_inside(text, part));
}

static void prefix(sqlite3_context *context, int count, sqlite3_value **values) {
  span text, part;
  (void)count;
  trellis_sqlite3_result_int64(
      context, read_text(values[0], &text) && read_text(values[1], &part) && part.count <= text.count &&
                   memcmp(text.bytes, part.bytes, part.count) == 0);
}

static void suffix(sqlite3_context *context, int count, sqlite3_value **values) {
  span text, part;
  (void)count;
  trellis_sqlite3_result_int64(
      context, read_text(values[0], &text) && read_text(values[1], &part) && part.count <= text.count &&
                   memcmp(text.bytes + (text.count - part.count), part.bytes, part.count) == 0);
}

// A plain decimal text: an optional sign, digits, and an optional point with digits; zeros that say nothing left out.
typedef struct {
  int is_negative;
  span whole, fraction;
} decimal;

static size_t count_digits(const unsigned char *bytes, size_t count) {
  size_t n = 0;
  while (n < count && bytes[n] >= '0' && bytes[n] <= '9') n++;
  return n;
}

static int read_decimal(span text, decimal *result) {
  int minus = 0;
  if (text.count > 0 && (text.bytes[0] == '-' || text.bytes[0] == '+')) {
    minus = text.bytes[0] == '-';
    text.bytes++, text.count--;
  }
  size_t whole = count_digits(text.bytes, text.count);
  if (whole == 0) return 0;
  result->whole = (span){text.bytes, whole};
  result->fraction = (span){text.bytes, 0};
  if (whole < text.count) {
    if (text.bytes[whole] != '.') return 0;
    result->fraction = (span){text.bytes + whole + 1, text.count - whole - 1};
    if (result->fraction.count == 0) return 0;
    if (count_digits(result->fraction.bytes, result->fraction.count) != result->fraction.count) return 0;
  }
  while (result->whole.count > 0 && result->whole.bytes[0] == '0') result->whole.bytes++, result->whole.count--;
  while (result->fraction.count > 0 && result->fraction.bytes[result->fraction.count - 1] == '0')
    result->fraction.count--;
  result->is_negative = minus && (result->whole.count > 0 || result->fraction.count > 0);
  return 1;
}

static int compare_spans(span a, span b) {
  size_t common = a.count < b.count ? a.count : b.count;
  int order = common ? memcmp(a.bytes, b.bytes, common) : 0;
  if (order) return order;
  return a.count < b.count ? -1 : a.count > b.count;
}

int trellis_decimal_compare(const void *left, int left_length, const void *right, int right_length) {
  span a = {left, (size_t)left_length}, b = {right, (size_t)right_length};
  decimal x, y;
  int is_x = read_decimal(a, &x), is_y = read_decimal(b, &y);
  // Texts of another form come first, so that the order is total whatever a file holds.
  if (!is_x || !is_y) return is_x ? 1 : is_y ? -1 : compare_spans(a, b);
  if (x.is_negative != y.is_negative) return x.is_negative ? -1 : 1;
  int order = 0;
  if (x.whole.count != y.whole.count)
    order = x.whole.count < y.whole.count ? -1 : 1;
  else if (!(order = compare_spans(x.whole, y.whole)))
    order = compare_spans(x.fraction, y.fraction);
  return x.is_negative ? -order : order;
}

static int collate(void *data, int left_length, const void *left, int right_length, const void *right) {
  (void)data;
  return trellis_decimal_compare(left, left_length, right, right_length);
}

int trellis_sqlite_extend(sqlite3 *db) {
  const int flags = TRELLIS_SQLITE_UTF8 | TRELLIS_SQLITE_DETERMINISTIC | TRELLIS_SQLITE_DIRECTONLY;
  int code = trellis_sqlite3_create_function_v2(db, "trellis_contains", 2, flags, NULL, contains, NULL, NULL, NULL);
  if (!code) code = trellis_sqlite3_create_function_v2(db, "trellis_prefix", 2, flags, NULL, prefix, NULL, NULL, NULL);
  if (!code) code = trellis_sqlite3_create_function_v2(db, "trellis_suffix", 2, flags, NULL, suffix, NULL, NULL, NULL);
  if (!code)
    code = trellis_sqlite3_create_collation_v2(db, "trellis_decimal", TRELLIS_SQLITE_UTF8, NULL, collate, NULL);
  if (!code) code = trellis_sqlite3_create_module_v2(db, "trellis_values", trellis_values_module(), NULL, NULL);
  return code;
}
