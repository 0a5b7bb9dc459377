/* Lets the linker leave unused functions out: unretain ARCHIVE OUTPUT copies an archive of ELF objects, and clears
   the flag by which the compiler of Swift's standard library keeps every function, SHF_GNU_RETAIN, on sections
   with code. Data, in which the runtime looks types up by name, stays as it is. */
#include <ar.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef SHF_GNU_RETAIN
#define SHF_GNU_RETAIN (1 << 21)
#endif

static void fail(const char *message) {
  fprintf(stderr, "unretain: %s\n", message);
  exit(1);
}

static char *read_whole(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END) != 0) fail("cannot read the archive");
  long end = ftell(file);
  char *bytes = malloc(end > 0 ? (size_t)end : 1);
  rewind(file);
  if (end < 0 || !bytes || fread(bytes, 1, (size_t)end, file) != (size_t)end)
    fail("cannot read the archive");
  fclose(file);
  *size = (size_t)end;
  return bytes;
}

static size_t unretain(char *object, size_t size) {
  Elf64_Ehdr *header = (Elf64_Ehdr *)object;
  if (size < sizeof *header || memcmp(object, ELFMAG, SELFMAG) != 0) return 0;
  if (header->e_ident[EI_CLASS] != ELFCLASS64) fail("this is no 64-bit object");
  if (header->e_shoff > size || size - header->e_shoff < sizeof(Elf64_Shdr)) fail("a bad object");
  Elf64_Shdr *sections = (Elf64_Shdr *)(object + header->e_shoff);
  /* Large numbers are in the first section, which is empty otherwise. */
  size_t count = header->e_shnum ? header->e_shnum : sections->sh_size;
  size_t names = header->e_shstrndx == SHN_XINDEX ? sections->sh_link : header->e_shstrndx;
  if (count > (size - header->e_shoff) / sizeof *sections || names >= count) fail("a bad object");
  Elf64_Shdr table = sections[names];
  if (table.sh_offset > size || table.sh_size > size - table.sh_offset) fail("a bad object");
  size_t changed = 0;
  for (size_t i = 0; i < count; i++) {
    const char *name = object + table.sh_offset + sections[i].sh_name;
    if (sections[i].sh_name + 6 > table.sh_size || strncmp(name, ".text.", 6) != 0) continue;
    if (!(sections[i].sh_flags & SHF_GNU_RETAIN)) continue;
    sections[i].sh_flags &= ~(Elf64_Xword)SHF_GNU_RETAIN;
    changed++;
  }
  return changed;
}

int main(int argc, char **argv) {
  if (argc != 3) fail("usage: unretain ARCHIVE OUTPUT");
  size_t size, changed = 0;
  char *archive = read_whole(argv[1], &size);
  if (size < SARMAG || memcmp(archive, ARMAG, SARMAG) != 0) fail("this is no archive");
  for (size_t place = SARMAG; place + sizeof(struct ar_hdr) <= size;) {
    char digits[sizeof ((struct ar_hdr *)0)->ar_size + 1] = {0};
    memcpy(digits, ((struct ar_hdr *)(archive + place))->ar_size, sizeof digits - 1);
    size_t length = strtoul(digits, NULL, 10);
    place += sizeof(struct ar_hdr);
    if (length > size - place) fail("the archive is cut short");
    /* Members begin at even places only, and structures want multiples of 8. */
    char *object = malloc(length ? length : 1);
    if (!object) fail("out of memory");
    memcpy(object, archive + place, length);
    changed += unretain(object, length);
    memcpy(archive + place, object, length);
    free(object);
    place += length + (length & 1);
  }
  if (changed == 0) fail("nothing is retained");
  FILE *output = fopen(argv[2], "wb");
  if (!output || fwrite(archive, 1, size, output) != size || fclose(output) != 0)
    fail("cannot write the copy");
  return 0;
}
