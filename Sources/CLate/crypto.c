// libcrypto, for hashes.
#include "CLate.h"

#include <openssl/evp.h>
#include <openssl/opensslv.h>
#include <pthread.h>

#include "late.h"

#define FUNCTIONS(each)                                                             \
  each(EVP_MD_CTX_new) each(EVP_MD_CTX_free) each(EVP_MD_CTX_copy_ex) each(EVP_sha256) \
  each(EVP_DigestInit_ex) each(EVP_DigestUpdate) each(EVP_DigestFinal_ex)

LATE_TABLE(crypto, "libcrypto.so." LATE_TEXT(OPENSSL_SHLIB_VERSION), FUNCTIONS);

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void) {
  const char *problem = late_load(&crypto_library);
  if (problem) late_give_up(problem);
}

void *ccrypto_sha256_start(void) {
  pthread_once(&once, load);
  EVP_MD_CTX *context = crypto.EVP_MD_CTX_new();
  if (context) crypto.EVP_DigestInit_ex(context, crypto.EVP_sha256(), NULL);
  return context;
}

void ccrypto_sha256_add(void *context, const void *bytes, size_t count) {
  crypto.EVP_DigestUpdate(context, bytes, count);
}

void ccrypto_sha256_result(void *context, unsigned char *digest) {
  EVP_MD_CTX *copy = crypto.EVP_MD_CTX_new();
  if (!copy) return;
  crypto.EVP_MD_CTX_copy_ex(copy, context);
  crypto.EVP_DigestFinal_ex(copy, digest, NULL);
  crypto.EVP_MD_CTX_free(copy);
}

void ccrypto_sha256_end(void *context) {
  if (context) crypto.EVP_MD_CTX_free(context);
}
