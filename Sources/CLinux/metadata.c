// The types of the objects behind arrays, dictionaries and sets. For each type of element, the
// Swift runtime would find the superclass by its name, lay out the fields and search its caches:
// 7,000 instructions, for 80 types in a run of one step. These classes have the same layout for all
// elements, so a class that is a constant of the standard library is copied, and only its generic
// arguments are replaced. Scripts/build makes the linker use these functions (`--wrap`).
#include "CLinux.h"

#ifdef OPRUN_WRAPS_LIBRARIES
#include <stdlib.h>
#include <string.h>

// The beginning of a class's metadata in the Swift runtime, behind the words that precede its address.
struct class {
  const void *kind, *superclass;
  uint32_t flags, instance_address_point, instance_size;
  uint16_t instance_alignment_mask, reserved;
  uint32_t size, address_point;
  const void *description;
};

struct response {
  const struct class *metadata;
  size_t state;  // 0: complete
};

struct response __real_swift_getCanonicalPrespecializedGenericMetadata(
    size_t request, const void *const *arguments, const void *description, void *token);
struct response __wrap_swift_getCanonicalPrespecializedGenericMetadata(
    size_t request, const void *const *arguments, const void *description, void *token);

// For each of the three kinds: its description, a constant of it, and the constant's first generic
// argument. The constants are marked as such, so that the runtime does not look for their copies in
// its caches either.
#define SWIFT(name) __asm__(name) __attribute__((weak))
extern const char array_description[] SWIFT("$ss23_ContiguousArrayStorageCMn");
extern const char dictionary_description[] SWIFT("$ss18_DictionaryStorageCMn");
extern const char set_description[] SWIFT("$ss11_SetStorageCMn");
extern struct response array_example(size_t request) SWIFT("$ss23_ContiguousArrayStorageCySSGMb");
extern struct response dictionary_example(size_t request) SWIFT("$ss18_DictionaryStorageCyS2iGMb");
extern struct response set_example(size_t request) SWIFT("$ss11_SetStorageCySiGMb");
extern const char string_type[] SWIFT("$sSSN");
extern const char int_type[] SWIFT("$sSiN");

static const struct kind {
  const void *description;
  struct response (*example)(size_t request);
  const void *first_argument;
  size_t argument_count;
} kinds[] = {
  {array_description, array_example, string_type, 1},
  {dictionary_description, dictionary_example, int_type, 3},  // key, value, and how the key is hashed
  {set_description, set_example, int_type, 2},
};

// A hash table of the copies.
enum { slot_count = 512, most_copies = 384 };
static const struct class *copies[slot_count];
static size_t copy_count;

// The position of the generic arguments, in words from the beginning.
static size_t place_of_arguments(const struct kind *kind, const struct class *example) {
  const void *const *words = (const void *const *)example;
  size_t count = (example->size - example->address_point) / sizeof *words;
  for (size_t place = sizeof *example / sizeof *words; place + kind->argument_count <= count; place++)
    if (words[place] == kind->first_argument) return place;
  return 0;
}

static const struct class *copy_of(
    const struct class *example, size_t place, const void *const *arguments, size_t argument_count) {
  char *start = malloc(example->size);
  if (!start) return NULL;
  memcpy(start, (const char *)example - example->address_point, example->size);
  const void **words = (const void **)(start + example->address_point);
  memcpy(words + place, arguments, argument_count * sizeof *words);
  return (const struct class *)words;
}

static const struct class *storage_class(const struct kind *kind, const void *const *arguments) {
  if (!kind->example) return NULL;
  const struct class *example = kind->example(0).metadata;
  size_t place = place_of_arguments(kind, example), size = kind->argument_count * sizeof *arguments;
  if (!place) return NULL;
  uint64_t hash = 0;
  for (size_t i = 0; i < kind->argument_count; i++)
    hash = (hash ^ (uintptr_t)arguments[i]) * 0x9e3779b97f4a7c15;
  size_t slot = hash >> 55;
  for (; copies[slot]; slot = (slot + 1) % slot_count)
    if (copies[slot]->description == kind->description
        && memcmp((const void *const *)copies[slot] + place, arguments, size) == 0)
      return copies[slot];
  if (copy_count == most_copies) return NULL;
  const struct class *copy = copy_of(example, place, arguments, kind->argument_count);
  if (copy) {
    copies[slot] = copy;
    copy_count++;
  }
  return copy;
}

struct response __wrap_swift_getCanonicalPrespecializedGenericMetadata(
    size_t request, const void *const *arguments, const void *description, void *token) {
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    if (description != kinds[i].description) continue;
    const struct class *metadata = storage_class(&kinds[i], arguments);
    if (metadata) return (struct response){metadata, 0};
  }
  return __real_swift_getCanonicalPrespecializedGenericMetadata(request, arguments, description, token);
}

// `[:]` is a call of this function, which the compiler never specializes where it optimizes for
// size. The function first builds the type of the pairs, which it does not need if there are none.
extern char empty_array[] __asm__("_swiftEmptyArrayStorage");
extern char empty_dictionary[] __asm__("_swiftEmptyDictionarySingleton");
void *real_dictionary(void *pairs, const void *key, const void *value, const void *hashing) __asm__(
    "__real_$sSD17dictionaryLiteralSDyxq_Gx_q_td_tcfC");
void *wrap_dictionary(void *pairs, const void *key, const void *value, const void *hashing) __asm__(
    "__wrap_$sSD17dictionaryLiteralSDyxq_Gx_q_td_tcfC");
void *wrap_dictionary(void *pairs, const void *key, const void *value, const void *hashing) {
  return pairs == empty_array ? empty_dictionary : real_dictionary(pairs, key, value, hashing);
}
#endif
