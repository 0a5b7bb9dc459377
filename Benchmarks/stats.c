// The floor of finding out that nothing has changed: looks at every file that a list names. With -h it reads and
// hashes them instead, with libcrypto.
#include <openssl/sha.h>
#include <stdio.h>
#include <string.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static int hash(const char *path) {
  static unsigned char piece[1 << 18], digest[SHA256_DIGEST_LENGTH];
  int file = open(path, O_RDONLY);
  if (file < 0) return 1;
  SHA256_CTX context;
  SHA256_Init(&context);
  for (ssize_t count; (count = read(file, piece, sizeof piece)) > 0;)
    SHA256_Update(&context, piece, (size_t)count);
  SHA256_Final(digest, &context);
  return close(file);
}

int main(int count, char **arguments) {
  int hashes = count > 2 && !strcmp(arguments[1], "-h");
  FILE *list = fopen(arguments[count - 1], "r");
  if (!list) return 2;
  char path[4096];
  struct stat status;
  long found = 0;
  while (fgets(path, sizeof path, list)) {
    path[strcspn(path, "\n")] = 0;
    if (hashes ? hash(path) : fstatat(AT_FDCWD, path, &status, AT_SYMLINK_NOFOLLOW)) return 1;
    found++;
  }
  printf("%ld files\n", found);
  return 0;
}
