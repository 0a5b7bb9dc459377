/* Lets the linker leave unused functions out: unretain ARCHIVE OUTPUT copies an archive of ELF objects, and clears
   the flag by which the compiler of Swift's standard library keeps everything, SHF_GNU_RETAIN, on sections with
   code. Data, in which the runtime looks up types and what they conform to, stays as it is, except for that of
   features that oprun does not use: vectors, Codable, two kinds of numbers, descriptions for debuggers and others. */
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

/* Features that oprun does not use, as parts of mangled names, and conversions from any kind of number to any other, which
   generic code would call. The library has small functions and tables in two
   sections that are always kept, and calls other functions from there: these calls are redirected, and would end the
   program. */
static const char *const unused[] = {"SIMD",
                                     "EncodingContainer",
                                     "DecodingContainer",
                                     "7Decoder",
                                     "7Encoder",
                                     "CodingKey",
                                     "CollectionDifference",
                                     "11LinearMyers",
                                     "18DiscontiguousSlice",
                                     "8RangeSetV",
                                     "13KeyValuePairs",
                                     "_DebuggerSupport",
                                     "_errorPresentationDescription",
                                     "SBsE8_convert",
                                     "SBsE7exactly",
                                     "RawSignificandRpzrlE8_convert",
                                     "s17FixedWidthIntegerPsE8_convert",
                                     "7Float16",
                                     "7Float80",
                                     "16debugDescription",
                                     "12customMirror",
                                     "21playgroundDescription"};
/* Functions that are called directly, if at all, but never through a table: conversions of numbers, shifts of one kind
   of them by another, and what generic code could do with numbers of 128 bits or with the descriptions of rare types. */
static const char *const untabled[] = {"SBsE",
                                       "SzsSz2ggoi",
                                       "SzsSz2lloi",
                                       "SzsSz3ggeoi",
                                       "SzsSz3lleoi",
                                       "s6Int128V",
                                       "s7UInt128V",
                                       "s7_Int128V",
                                       "s8_UInt128V",
                                       "25LosslessStringConvertible",
                                       "SBRd__lufC",
                                       "SfSjsSj7exactly",
                                       "SdSjsSj7exactly",
                                       "SfSFsSFyxqd__c",
                                       "SdSFsSFyxqd__c",
                                       "6MirrorVs23CustomStringConvertible",
                                       "20_CharacterRecognizerVs23CustomStringConvertible",
                                       "19_SwiftStdlibVersionas23CustomStringConvertible",
                                       "15ValidationErrorVs23CustomStringConvertible",
                                       "22_GraphemeBreakingStateVs23CustomStringConvertible"};
/* Those of which nothing is left to call them, whose jump tables are therefore never used. Scripts/build sees to it that none
   of them is in the program. */
static const char *const dead[] = {"16debugDescription", "_DebuggerSupport", "_errorPresentationDescription",
                                   "SBsE8_convert", "SBsE7exactly",
                                   "RawSignificandRpzrlE8_convert", "s17FixedWidthIntegerPsE8_convert"};
/* Data about them: SE and Se are Encodable and Decodable. */
static const char *const unused_data[] = {"SEs",
                                          "Ses",
                                          "CodingC0",
                                          "CodingUserInfo",
                                          "EncodingErrorO",
                                          "DecodingErrorO",
                                          "CustomDebugStringConvertible",
                                          "CustomReflectable",
                                          "CustomLeafReflectable",
                                          "CustomPlaygroundDisplayConvertible"};

#define IS_ONE_OF(name, parts) is_one_of(name, parts, sizeof parts / sizeof *parts)

static int is_one_of(const char *name, const char *const *parts, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (strstr(name, parts[i])) return 1;
  return 0;
}

static int is_unused_data(const char *name) { return IS_ONE_OF(name, unused) || IS_ONE_OF(name, unused_data); }

/* The compiler makes one function of several that are alike, and gives it the name of any of them. */
static int is_merged(const char *name) {
  size_t length = strlen(name);
  return length > 2 && !strcmp(name + length - 2, "Tm");
}

/* Functions that the runtime calls for a type whether anybody uses it or not: those that make its metadata, which are
   called for all types that the library has prepared as soon as one is needed, and those that copy and destroy values. */
static int serves_runtime(const char *name) {
  size_t length = strlen(name);
  if (length < 4) return 0;
  return (name[length - 2] == 'M' && strchr("abrIi", name[length - 1])) || name[length - 3] == 'w';
}

static size_t release(Elf64_Shdr *section) {
  if (!(section->sh_flags & SHF_GNU_RETAIN)) return 0;
  section->sh_flags &= ~(Elf64_Xword)SHF_GNU_RETAIN;
  return 1;
}

/* The records in which the runtime finds conformances and types: each is a section, which refers to one symbol. The
   linker keeps all sections of these names. */
static int is_record(const char *name) {
  return !strcmp(name, "swift5_protocol_conformances") || !strcmp(name, "swift5_type_metadata");
}

/* `end` is the symbol of a function that ends the program; `functions` has the symbol of the function that is alone in a
   section, or 0. */
static size_t redirect(char *object, Elf64_Shdr *calls, Elf64_Sym *symbols, const char *names, size_t end,
                       const size_t *functions, size_t section_count, size_t symbol_count,
                       int is_table) {
  Elf64_Rela *call = (Elf64_Rela *)(object + calls->sh_offset);
  size_t changed = 0;
  for (size_t i = 0; i < calls->sh_size / sizeof *call; i++) {
    Elf64_Sym *symbol = &symbols[ELF64_R_SYM(call[i].r_info)];
    // The address of an instruction's operand is that of the next instruction, 4 bytes on. Other places in a function are
    // where a `switch` goes on.
    int is_inside = 0;
    if (ELF64_ST_TYPE(symbol->st_info) == STT_SECTION && symbol->st_shndx < section_count) {
      size_t function = functions[symbol->st_shndx];
      symbol = &symbols[function < symbol_count ? function : 0];
      is_inside = call[i].r_addend != (is_table ? 0 : -4);
    }
    if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC) continue;
    const char *name = names + symbol->st_name;
    if (is_merged(name) || (is_table && serves_runtime(name))) continue;
    if (is_inside ? !is_table || !IS_ONE_OF(name, dead)
                  : !IS_ONE_OF(name, unused) && !(is_table && IS_ONE_OF(name, untabled)))
      continue;
    call[i].r_info = ELF64_R_INFO(end, ELF64_R_TYPE(call[i].r_info));
    changed++;
  }
  return changed;
}

static size_t release_unused(char *object, Elf64_Shdr *sections, size_t count, const char *names) {
  size_t changed = 0;
  Elf64_Word other_name = 0;
  for (size_t i = 0; i < count; i++)
    if (!strcmp(names + sections[i].sh_name, ".rodata")) other_name = sections[i].sh_name;
  for (size_t i = 0; i < count; i++) {
    if (sections[i].sh_type != SHT_SYMTAB) continue;
    Elf64_Sym *symbols = (Elf64_Sym *)(object + sections[i].sh_offset);
    size_t symbol_count = sections[i].sh_size / sizeof *symbols;
    const char *symbol_names = object + sections[sections[i].sh_link].sh_offset;
    size_t end = 0;
    size_t *functions = calloc(count, sizeof *functions);
    if (!functions) fail("out of memory");
    for (size_t k = 0; k < symbol_count; k++) {
      const char *name = symbol_names + symbols[k].st_name;
      if (ELF64_ST_TYPE(symbols[k].st_info) == STT_FUNC && symbols[k].st_shndx < count) {
        size_t *function = &functions[symbols[k].st_shndx];
        *function = *function ? symbol_count : k;
      }
      if (!strcmp(name, "swift_deletedMethodError")) end = k;
      if (symbols[k].st_shndx < count && is_unused_data(name)) changed += release(&sections[symbols[k].st_shndx]);
    }
    for (size_t k = 0; k < count; k++) {
      if (sections[k].sh_type != SHT_RELA || sections[k].sh_link != i || sections[k].sh_info >= count ||
          sections[k].sh_size == 0)
        continue;
      const char *place = names + sections[sections[k].sh_info].sh_name;
      int is_table = !strncmp(place, ".data", 5) || !strncmp(place, ".rodata", 7);
      if (end && (is_table || !strncmp(place, ".text", 5)))
        changed += redirect(object, &sections[k], symbols, symbol_names, end, functions, count, symbol_count, is_table);
      if (!is_record(place)) continue;
      size_t symbol = ELF64_R_SYM(((Elf64_Rela *)(object + sections[k].sh_offset))->r_info);
      if (symbol >= symbol_count || !is_unused_data(symbol_names + symbols[symbol].st_name)) continue;
      changed += release(&sections[sections[k].sh_info]);
      sections[sections[k].sh_info].sh_name = other_name;
    }
    free(functions);
  }
  return changed;
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
    /* Nothing but zeros, for which no room in the file is needed. */
    if (!strcmp(name, "swift5_backtrace")) sections[i].sh_type = SHT_NOBITS;
    if (sections[i].sh_name + 6 > table.sh_size || strncmp(name, ".text.", 6) != 0) continue;
    changed += release(&sections[i]);
  }
  return changed + release_unused(object, sections, count, object + table.sh_offset);
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
