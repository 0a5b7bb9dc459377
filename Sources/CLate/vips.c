// libvips, and what it needs from GLib.
#define _GNU_SOURCE
#include "CLate.h"

#include <dlfcn.h>
#include <gmodule.h>
#include <malloc.h>
#include <stdio.h>
#include <pthread.h>
#include <string.h>

#include "late.h"

#define FUNCTIONS(each)                                                                          \
  each(vips_init) each(vips_version) each(vips_version_string) each(vips_concurrency_set)        \
  each(vips_cache_set_max) each(vips_block_untrusted_set) each(vips_operation_block_set)         \
  each(vips_error_buffer) each(vips_error_clear) each(vips_source_new_from_descriptor)           \
  each(vips_target_new_to_descriptor) each(vips_array_double_new) each(vips_area_unref)          \
  each(vips_image_get_width) each(vips_image_get_height) each(vips_image_get_bands)              \
  each(vips_image_hasalpha) each(vips_image_get_page_height) each(vips_image_get_n_pages)        \
  each(vips_image_get_orientation) each(vips_image_get_format) each(vips_format_sizeof)          \
  each(vips_image_get_interpretation) each(vips_image_get_typeof) each(vips_image_set_int)       \
  each(vips_image_get) each(vips_image_set) each(vips_image_new_from_memory)                     \
  each(vips_image_new_from_memory_copy) each(vips_image_copy_memory)                             \
  each(vips_image_write_to_memory) each(vips_jpegload_source) each(vips_pngload_source)          \
  each(vips_webpload_source) each(vips_gifload_source) each(vips_tiffload_source)                \
  each(vips_heifload_source) each(vips_thumbnail_source) each(vips_thumbnail_image)              \
  each(vips_extract_area) each(vips_colourspace) each(vips_cast_uchar) each(vips_addalpha)       \
  each(vips_flatten) each(vips_embed) each(vips_jpegsave_target) each(vips_pngsave_target)       \
  each(vips_webpsave_target) each(vips_gifsave_target) each(vips_heifsave_target)                \
  each(vips_tiffsave_target) each(vips_jxlload_source) each(vips_jxlsave_target)                 \
  each(g_object_unref) each(g_free) each(g_setenv) each(g_value_unset) each(g_type_from_name)    \
  each(g_module_open) each(g_module_make_resident) each(vips_copy) each(vips_image_remove)       \
  each(vips_image_get_fields) each(g_strfreev)

_Static_assert(VIPS_LIBRARY_CURRENT - VIPS_LIBRARY_AGE == 42, "libvips has another name");
LATE_TABLE(vips, "libvips.so.42", FUNCTIONS);

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const char *problem;

// A symbol is searched for in everything that is being loaded with the library that needs it, and
// libvips comes with a hundred libraries. These two are large and need many symbols, so they are
// loaded before it, each with only the libraries that it needs itself. Where they are missing or have
// other names, libvips is loaded as it is: this only saves a quarter of the time (Debian 12).
static void load_large_libraries(void) {
  static const char *const names[] = {"libmatio.so.11", "libOpenEXR-3_1.so.30"};
  for (size_t index = 0; index < sizeof(names) / sizeof(names[0]); index++)
    dlopen(names[index], RTLD_LAZY | RTLD_LOCAL);
}

static void load(void) {
  load_large_libraries();
  problem = late_load(&vips_library);
  // The next message of the dynamic linker overwrites this one.
  if (problem) problem = strdup(problem);
  // Without ISA-L, zlib decompresses.
  else cinflate_load();
}

const char *cvips_load(void) {
  pthread_once(&once, load);
  return problem;
}

const char *cvips_version(void) { return cvips_load() ? "" : vips.vips_version_string(); }

// Uses one thread per image, and no caching between images. libvips' modules are not searched for,
// because loading them all takes longer than processing a small image. Memory that an image no longer
// needs is kept for the next, up to a limit: every page that is given back and taken again is cleared
// by the kernel.
int cvips_start(void) {
  if (cvips_load()) return -1;
  vips.g_setenv("VIPSHOME", "/nonexistent", TRUE);
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_MMAP_THRESHOLD, 16 << 20);
  mallopt(M_TRIM_THRESHOLD, 32 << 20);
  if (vips.vips_init("oprun-steps") != 0) return -1;
  vips.vips_concurrency_set(1);
  vips.vips_cache_set_max(0);
  return 0;
}

int cvips_has(const char *name) { return vips.g_type_from_name(name) != 0; }

void cvips_block_loaders(void) {
  vips.vips_block_untrusted_set(TRUE);
  vips.vips_operation_block_set("VipsForeignLoad", TRUE);
}

void cvips_allow(const char *name) {
  if (cvips_has(name)) vips.vips_operation_block_set(name, FALSE);
}

int cvips_load_module(const char *name) {
  Dl_info library;
  if (!dladdr((const void *)vips.vips_init, &library) || !library.dli_fname) return -1;
  const char *slash = strrchr(library.dli_fname, '/');
  int length = slash ? (int)(slash - library.dli_fname) : 0;
  char path[4096];
  snprintf(path, sizeof(path), "%.*s/vips-modules-%d.%d/%s", length, library.dli_fname,
           vips.vips_version(0), vips.vips_version(1), name);
  // The module must be initialised, which GLib does.
  GModule *module = vips.g_module_open(path, G_MODULE_BIND_LAZY);
  if (module) vips.g_module_make_resident(module);
  return module ? 0 : -1;
}

void cvips_release(void *object) { vips.g_object_unref(object); }
void cvips_free(void *memory) { vips.g_free(memory); }
const char *cvips_messages(void) { return vips.vips_error_buffer(); }
void cvips_forget_messages(void) {
  if (!cvips_load()) vips.vips_error_clear();
}

int cvips_width(VipsImage *image) { return vips.vips_image_get_width(image); }
int cvips_height(VipsImage *image) { return vips.vips_image_get_height(image); }
int cvips_bands(VipsImage *image) { return vips.vips_image_get_bands(image); }
int cvips_has_alpha(VipsImage *image) { return vips.vips_image_hasalpha(image); }
int cvips_frame_height(VipsImage *image) { return vips.vips_image_get_page_height(image); }
int cvips_frame_count(VipsImage *image) { return vips.vips_image_get_n_pages(image); }
int cvips_orientation(VipsImage *image) { return vips.vips_image_get_orientation(image); }
VipsBandFormat cvips_format(VipsImage *image) { return vips.vips_image_get_format(image); }
VipsInterpretation cvips_interpretation(VipsImage *image) {
  return vips.vips_image_get_interpretation(image);
}
int cvips_bytes_per_pixel(VipsImage *image) {
  return (int)vips.vips_format_sizeof(cvips_format(image)) * cvips_bands(image);
}

int cvips_has_field(VipsImage *image, const char *name) {
  return vips.vips_image_get_typeof(image, name) != 0;
}
void cvips_set_number(VipsImage *image, const char *name, int value) {
  vips.vips_image_set_int(image, name, value);
}
void cvips_copy_field(VipsImage *from, VipsImage *to, const char *name) {
  GValue value = {0};
  if (!cvips_has_field(from, name) || vips.vips_image_get(from, name, &value)) return;
  vips.vips_image_set(to, name, &value);
  vips.g_value_unset(&value);
}

// True for the fields that say how pixels are stored, read or shown. Any other may say where, when
// and by whom an image was made.
static int is_technical(const char *name) {
  static const char *const names[] = {
      "delay",           "loop",        "n-pages",         "page-height",       "gif-delay",
      "gif-loop",        "gif-palette", "palette",         "palette-bit-depth", "bits-per-sample",
      "background",      "interlaced",  "resolution-unit", "vips-sequential",   "concurrency",
      "heif-bitdepth",   "vips-loader", "heif-compression", "jpeg-chroma-subsample",
  };
  for (size_t index = 0; index < sizeof(names) / sizeof(names[0]); index++)
    if (strcmp(name, names[index]) == 0) return 1;
  return 0;
}

VipsImage *cvips_without_metadata(VipsImage *from) {
  VipsImage *image = NULL;
  // The original must not change, because others may use it.
  if (vips.vips_copy(from, &image, NULL)) return NULL;
  char **names = vips.vips_image_get_fields(image);
  for (char **name = names; *name; name++)
    if (!is_technical(*name)) vips.vips_image_remove(image, *name);
  vips.g_strfreev(names);
  return image;
}

VipsSource *cvips_source(int descriptor) { return vips.vips_source_new_from_descriptor(descriptor); }
VipsTarget *cvips_target(int descriptor) { return vips.vips_target_new_to_descriptor(descriptor); }

static VipsImage *in_color(VipsImage *image) {
  if (image) image->Type = VIPS_INTERPRETATION_sRGB;
  return image;
}
VipsImage *cvips_around_pixels(const void *pixels, size_t size, int width, int height) {
  return in_color(
      vips.vips_image_new_from_memory(pixels, size, width, height, 4, VIPS_FORMAT_UCHAR));
}
VipsImage *cvips_of_pixels(const void *pixels, size_t size, int width, int height) {
  return in_color(
      vips.vips_image_new_from_memory_copy(pixels, size, width, height, 4, VIPS_FORMAT_UCHAR));
}
VipsImage *cvips_decoded(VipsImage *image) { return vips.vips_image_copy_memory(image); }
void *cvips_pixels(VipsImage *image, size_t *size) {
  return vips.vips_image_write_to_memory(image, size);
}

// Sequential access, with an error at the first missing byte.
#define CAREFUL "access", VIPS_ACCESS_SEQUENTIAL, "fail_on", VIPS_FAIL_ON_TRUNCATED
#define RESULT(call)       \
  VipsImage *image = NULL; \
  return (call) ? NULL : image

VipsImage *cvips_load_jpeg(VipsSource *source, int shrink) {
  RESULT(vips.vips_jpegload_source(source, &image, CAREFUL, "shrink", shrink, NULL));
}
VipsImage *cvips_load_png(VipsSource *source) {
  RESULT(vips.vips_pngload_source(source, &image, CAREFUL, NULL));
}
VipsImage *cvips_load_webp(VipsSource *source, int pages, double scale) {
  RESULT(vips.vips_webpload_source(source, &image, CAREFUL, "n", pages, "scale", scale, NULL));
}
VipsImage *cvips_load_gif(VipsSource *source, int pages) {
  RESULT(vips.vips_gifload_source(source, &image, CAREFUL, "n", pages, NULL));
}
VipsImage *cvips_load_tiff(VipsSource *source) {
  RESULT(vips.vips_tiffload_source(source, &image, CAREFUL, NULL));
}
VipsImage *cvips_load_jxl(VipsSource *source) {
  RESULT(vips.vips_jxlload_source(source, &image, CAREFUL, NULL));
}
VipsImage *cvips_load_heif(VipsSource *source) {
  RESULT(vips.vips_heifload_source(source, &image, CAREFUL, NULL));
}

// Scales to exactly this size, rotated upright. Colours are converted only if `profile` is given,
// because converting from sRGB to sRGB takes longer than processing a small image.
#define SCALING "height", height, "size", VIPS_SIZE_FORCE, "no_rotate", !turns
VipsImage *cvips_thumbnail_source(
    VipsSource *source, const char *options, int width, int height, int turns,
    const char *profile) {
  if (profile) {
    RESULT(vips.vips_thumbnail_source(
        source, &image, width, SCALING, "option_string", options, "export_profile", profile, NULL));
  }
  RESULT(vips.vips_thumbnail_source(
      source, &image, width, SCALING, "option_string", options, NULL));
}
VipsImage *cvips_thumbnail_image(
    VipsImage *from, int width, int height, int turns, const char *profile) {
  if (profile) {
    RESULT(vips.vips_thumbnail_image(
        from, &image, width, SCALING, "export_profile", profile, NULL));
  }
  RESULT(vips.vips_thumbnail_image(from, &image, width, SCALING, NULL));
}

VipsImage *cvips_extract(VipsImage *from, int left, int top, int width, int height) {
  RESULT(vips.vips_extract_area(from, &image, left, top, width, height, NULL));
}
VipsImage *cvips_to_space(VipsImage *from, VipsInterpretation space) {
  RESULT(vips.vips_colourspace(from, &image, space, NULL));
}
VipsImage *cvips_to_bytes(VipsImage *from) {
  RESULT(vips.vips_cast_uchar(from, &image, NULL));
}
VipsImage *cvips_with_alpha(VipsImage *from) {
  RESULT(vips.vips_addalpha(from, &image, NULL));
}
VipsImage *cvips_flatten(VipsImage *from, double red, double green, double blue) {
  double color[] = {red, green, blue};
  VipsArrayDouble *background = vips.vips_array_double_new(color, 3);
  VipsImage *image = NULL;
  int failed = vips.vips_flatten(from, &image, "background", background, NULL);
  vips.vips_area_unref((VipsArea *)background);
  return failed ? NULL : image;
}
VipsImage *cvips_embed(
    VipsImage *from, int left, int top, int width, int height, const double *color, int bands) {
  VipsArrayDouble *background = vips.vips_array_double_new(color, bands);
  VipsImage *image = NULL;
  int failed = vips.vips_embed(from, &image, left, top, width, height, "extend",
                          VIPS_EXTEND_BACKGROUND, "background", background, NULL);
  vips.vips_area_unref((VipsArea *)background);
  return failed ? NULL : image;
}

// Return 0 on success.
int cvips_save_jpeg(
    VipsImage *image, VipsTarget *target, int quality, int strip, int optimize) {
  return vips.vips_jpegsave_target(image, target, "Q", quality, "strip", strip, "optimize_coding",
                              optimize, NULL);
}
int cvips_save_png(VipsImage *image, VipsTarget *target, int strip) {
  return vips.vips_pngsave_target(image, target, "strip", strip, NULL);
}
int cvips_save_webp(VipsImage *image, VipsTarget *target, int quality, int strip) {
  return vips.vips_webpsave_target(image, target, "Q", quality, "strip", strip, NULL);
}
int cvips_save_gif(VipsImage *image, VipsTarget *target, int strip) {
  return vips.vips_gifsave_target(image, target, "strip", strip, NULL);
}
int cvips_save_avif(VipsImage *image, VipsTarget *target, int quality, int strip) {
  return vips.vips_heifsave_target(image, target, "Q", quality, "strip", strip, "compression",
                              VIPS_FOREIGN_HEIF_COMPRESSION_AV1, NULL);
}

int cvips_save_tiff(VipsImage *image, VipsTarget *target, int strip) {
  return vips.vips_tiffsave_target(image, target, "strip", strip, "compression",
                                   VIPS_FOREIGN_TIFF_COMPRESSION_DEFLATE, "predictor",
                                   VIPS_FOREIGN_TIFF_PREDICTOR_HORIZONTAL, NULL);
}
int cvips_save_heic(VipsImage *image, VipsTarget *target, int quality, int strip) {
  return vips.vips_heifsave_target(image, target, "Q", quality, "strip", strip, "compression",
                                   VIPS_FOREIGN_HEIF_COMPRESSION_HEVC, NULL);
}
int cvips_save_jxl(VipsImage *image, VipsTarget *target, int quality, int strip) {
  return vips.vips_jxlsave_target(image, target, "Q", quality, "strip", strip, NULL);
}
