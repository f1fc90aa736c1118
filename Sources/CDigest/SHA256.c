#include "CDigest.h"

#if __has_include(<CommonCrypto/CommonDigest.h>)
#include <CommonCrypto/CommonDigest.h>

_Static_assert(sizeof(CC_SHA256_CTX) <= sizeof(struct trellis_sha256), "The state is too small.");

int trellis_sha256_begin(struct trellis_sha256 *state) { return CC_SHA256_Init((CC_SHA256_CTX *)state); }

void trellis_sha256_add(struct trellis_sha256 *state, const void *bytes, size_t count) {
  const char *rest = bytes;
  // A call takes less than 2^32 bytes.
  for (size_t part; count > 0; rest += part, count -= part) {
    part = count < 1u << 30 ? count : 1u << 30;
    CC_SHA256_Update((CC_SHA256_CTX *)state, rest, (CC_LONG)part);
  }
}

void trellis_sha256_end(struct trellis_sha256 *state, unsigned char *digest) {
  CC_SHA256_Final(digest, (CC_SHA256_CTX *)state);
}

#elif defined(_WIN32)

int trellis_sha256_begin(struct trellis_sha256 *state) { return 0; }
void trellis_sha256_add(struct trellis_sha256 *state, const void *bytes, size_t count) {}
void trellis_sha256_end(struct trellis_sha256 *state, unsigned char *digest) {}

#else
#include "CLibrary.h"

// The functions of one algorithm read no configuration and load no provider, unlike those for any algorithm.
static struct {
  int (*begin)(void *state);
  int (*add)(void *state, const void *bytes, size_t count);
  int (*end)(unsigned char *digest, void *state);
  unsigned long (*version)(void);
} openssl;

static const char *const files[] = {"libcrypto.so.3", "libcrypto.so.1.1", "libcrypto.so", NULL};

static const struct trellis_symbol symbols[] = {
  {"SHA256_Init", &openssl.begin},
  {"SHA256_Update", &openssl.add},
  {"SHA256_Final", &openssl.end},
  // Versions before 1.1 lack it. They end the program in FIPS mode.
  {"OpenSSL_version_num", &openssl.version},
  {NULL, NULL}};

static struct trellis_library library = {
  .name = "libcrypto",
  .subject = "OpenSSL's libcrypto",
  .found = "The libcrypto found cannot be used",
  .variable = "TRELLIS_LIBCRYPTO_LIBRARY",
  .files = files,
  .symbols = symbols,
};

int trellis_sha256_begin(struct trellis_sha256 *state) {
  return trellis_library_load(&library) == NULL && openssl.begin(state) == 1;
}

void trellis_sha256_add(struct trellis_sha256 *state, const void *bytes, size_t count) {
  openssl.add(state, bytes, count);
}

void trellis_sha256_end(struct trellis_sha256 *state, unsigned char *digest) { openssl.end(digest, state); }
#endif
