// Finds a part in bytes by the Two-Way algorithm of Crochemore and Perrin, in linear time without memory: what the C
// library has may be quadratic.
#include "CSQLite.h"

// A part cut in two: where the second half begins, and that half's period.
typedef struct {
  size_t place, period;
} cut;

// The greatest suffix in the order of bytes or in the reverse one.
static cut maximal_suffix(const unsigned char *part, size_t count, int reversed) {
  size_t best = 0, candidate = 1, length = 0, period = 1;
  while (candidate + length < count) {
    unsigned char own = part[best + length], other = part[candidate + length];
    if (own == other) {
      if (++length == period) candidate += period, length = 0;
    } else if (reversed ? other > own : other < own) {
      candidate += length + 1, length = 0, period = candidate - best;
    } else {
      best = candidate++, length = 0, period = 1;
    }
  }
  return (cut){best, period};
}

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

int trellis_is_inside(const unsigned char *text, size_t text_count, const unsigned char *part, size_t part_count) {
  if (part_count == 0) return 1;
  cut up = maximal_suffix(part, part_count, 0), down = maximal_suffix(part, part_count, 1);
  cut cut = up.place > down.place ? up : down;
  size_t same = 0, known = 0, overlap = 0;
  while (same < cut.place && cut.place + cut.period <= part_count && part[same] == part[same + cut.period]) same++;
  // Where the whole has the period of the second half, what is known to fit is kept after a jump.
  if (same == cut.place)
    overlap = part_count - cut.period;
  else
    cut.period = larger(cut.place, part_count - cut.place) + 1;
  for (size_t place = 0; part_count <= text_count && place <= text_count - part_count;) {
    const unsigned char *here = text + place;
    size_t index = larger(cut.place, known);
    while (index < part_count && part[index] == here[index]) index++;
    if (index < part_count) {
      place += index - cut.place + 1, known = 0;
      continue;
    }
    index = cut.place;
    while (index > known && part[index - 1] == here[index - 1]) index--;
    if (index <= known) return 1;
    place += cut.period, known = overlap;
  }
  return 0;
}
