// SHA-256 by the library that the system has for it, if it has one: CommonCrypto on Apple's platforms, otherwise OpenSSL's
// libcrypto, which is loaded when the first digest is begun.
#ifndef TRELLIS_CDIGEST_H
#define TRELLIS_CDIGEST_H

#include <stddef.h>
#include <stdint.h>

/// The state of a digest, plain data without addresses. The libraries let programs allocate it, so its size is a part of
/// their binary interfaces: 104 bytes of CommonCrypto, 112 of every OpenSSL and of those that descend from it. It has 256
/// here.
struct trellis_sha256 {
  uint64_t words[32];
};

/// Begins a digest. May be called from any thread.
/// Returns 1, or 0 if the system has no library.
int trellis_sha256_begin(struct trellis_sha256 *state);

/// Adds bytes to a digest that was begun.
void trellis_sha256_add(struct trellis_sha256 *state, const void *bytes, size_t count);

/// Writes the 32 bytes of the digest. Nothing can be added afterwards.
void trellis_sha256_end(struct trellis_sha256 *state, unsigned char *digest);

#endif
