#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/evp.h>
#include <openssl/sha.h>

// SHA-256 by the plain functions: with the newer ones a static program would contain all of
// libcrypto.
static inline void ccrypto_sha256_init(SHA256_CTX *context) { SHA256_Init(context); }
static inline void ccrypto_sha256_update(SHA256_CTX *context, const void *bytes, size_t count) {
  SHA256_Update(context, bytes, count);
}
static inline void ccrypto_sha256_final(SHA256_CTX *context, unsigned char *digest) {
  SHA256_Final(digest, context);
}
