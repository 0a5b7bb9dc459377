// libvips, with a plain C function in place of each variadic one that is called.
#ifndef CVIPS_SHIM_H
#define CVIPS_SHIM_H

#include <gmodule.h>
#include <malloc.h>
#include <stdint.h>
#include <string.h>
#include <vips/vips.h>

// One thread per image, and nothing remembered between images. None of libvips' modules is looked
// for: loading them all takes longer than a small image does.
static inline int cvips_start(void) {
  g_setenv("VIPSHOME", "/nonexistent", TRUE);
  mallopt(M_ARENA_MAX, 1);
  if (vips_init("oprun-steps") != 0) return -1;
  vips_concurrency_set(1);
  vips_cache_set_max(0);
  return 0;
}

// Holds for the loaders that are known by then.
static inline void cvips_block_loaders(void) {
  vips_block_untrusted_set(TRUE);
  vips_operation_block_set("VipsForeignLoad", TRUE);
}

static inline void cvips_allow_loader(const char *name) { vips_operation_block_set(name, FALSE); }

// The C library shows dladdr(3) and its Dl_info only to programs that ask for GNU extensions.
struct cvips_symbol {
  const char *library;
  void *base;
  const char *name;
  void *address;
};
extern int cvips_find_symbol(const void *address, struct cvips_symbol *found) __asm__("dladdr");

// Loads a module, such as the one for HEIF and AVIF, from beside the library.
static inline int cvips_load_module(const char *name) {
  struct cvips_symbol symbol = {0};
  if (!cvips_find_symbol((const void *)vips_init, &symbol) || !symbol.library) return -1;
  char *folder = g_path_get_dirname(symbol.library);
  char *path = g_strdup_printf("%s/vips-modules-%d.%d/%s", folder, vips_version(0),
                               vips_version(1), name);
  GModule *module = g_module_open(path, G_MODULE_BIND_LAZY);
  if (module) g_module_make_resident(module);
  g_free(path);
  g_free(folder);
  return module ? 0 : -1;
}

// Whether a class of operations is there, as "VipsForeignLoadHeif".
static inline int cvips_has(const char *name) { return g_type_from_name(name) != 0; }

static inline void cvips_release(void *object) { g_object_unref(object); }

// Sequential, and an error at the first byte that is missing.
#define CVIPS_CAREFUL "access", VIPS_ACCESS_SEQUENTIAL, "fail_on", VIPS_FAIL_ON_TRUNCATED
#define CVIPS_RESULT(call) VipsImage *image = NULL; return (call) ? NULL : image

// `pages`: 1 for the first alone, -1 for all.
static inline VipsImage *cvips_load_jpeg(VipsSource *source, int shrink) {
  CVIPS_RESULT(vips_jpegload_source(source, &image, CVIPS_CAREFUL, "shrink", shrink, NULL));
}
static inline VipsImage *cvips_load_png(VipsSource *source) {
  CVIPS_RESULT(vips_pngload_source(source, &image, CVIPS_CAREFUL, NULL));
}
static inline VipsImage *cvips_load_webp(VipsSource *source, int pages, double scale) {
  CVIPS_RESULT(vips_webpload_source(source, &image, CVIPS_CAREFUL, "n", pages, "scale", scale, NULL));
}
static inline VipsImage *cvips_load_gif(VipsSource *source, int pages) {
  CVIPS_RESULT(vips_gifload_source(source, &image, CVIPS_CAREFUL, "n", pages, NULL));
}
static inline VipsImage *cvips_load_tiff(VipsSource *source) {
  CVIPS_RESULT(vips_tiffload_source(source, &image, CVIPS_CAREFUL, NULL));
}
static inline VipsImage *cvips_load_heif(VipsSource *source) {
  CVIPS_RESULT(vips_heifload_source(source, &image, CVIPS_CAREFUL, NULL));
}

// Exactly this size, turned upright. A profile is worked off only if `profile` is given: going from
// sRGB to sRGB takes longer than a small image does.
static inline VipsImage *cvips_thumbnail_source(
    VipsSource *source, const char *options, int width, int height, const char *profile) {
  if (profile) {
    CVIPS_RESULT(vips_thumbnail_source(
        source, &image, width, "height", height, "size", VIPS_SIZE_FORCE, "option_string", options,
        "export_profile", profile, NULL));
  }
  CVIPS_RESULT(vips_thumbnail_source(
      source, &image, width, "height", height, "size", VIPS_SIZE_FORCE, "option_string", options,
      NULL));
}
static inline VipsImage *cvips_thumbnail_image(
    VipsImage *from, int width, int height, const char *profile) {
  if (profile) {
    CVIPS_RESULT(vips_thumbnail_image(
        from, &image, width, "height", height, "size", VIPS_SIZE_FORCE, "export_profile", profile,
        NULL));
  }
  CVIPS_RESULT(vips_thumbnail_image(
      from, &image, width, "height", height, "size", VIPS_SIZE_FORCE, NULL));
}

static inline VipsImage *cvips_extract(VipsImage *from, int left, int top, int width, int height) {
  CVIPS_RESULT(vips_extract_area(from, &image, left, top, width, height, NULL));
}
static inline VipsImage *cvips_to_space(VipsImage *from, VipsInterpretation space) {
  CVIPS_RESULT(vips_colourspace(from, &image, space, NULL));
}
static inline VipsImage *cvips_to_bytes(VipsImage *from) {
  CVIPS_RESULT(vips_cast_uchar(from, &image, NULL));
}
static inline VipsImage *cvips_with_alpha(VipsImage *from) {
  CVIPS_RESULT(vips_addalpha(from, &image, NULL));
}
static inline VipsImage *cvips_flatten(VipsImage *from, double red, double green, double blue) {
  double color[] = {red, green, blue};
  VipsArrayDouble *background = vips_array_double_new(color, 3);
  VipsImage *image = NULL;
  int failed = vips_flatten(from, &image, "background", background, NULL);
  vips_area_unref(VIPS_AREA(background));
  return failed ? NULL : image;
}
static inline VipsImage *cvips_embed(
    VipsImage *from, int left, int top, int width, int height, const double *color, int bands) {
  VipsArrayDouble *background = vips_array_double_new(color, bands);
  VipsImage *image = NULL;
  int failed = vips_embed(from, &image, left, top, width, height, "extend",
                          VIPS_EXTEND_BACKGROUND, "background", background, NULL);
  vips_area_unref(VIPS_AREA(background));
  return failed ? NULL : image;
}

// 0 on success.
static inline int cvips_save_jpeg(
    VipsImage *image, VipsTarget *target, int quality, int strip, int optimize) {
  return vips_jpegsave_target(image, target, "Q", quality, "strip", strip, "optimize_coding",
                              optimize, NULL);
}
static inline int cvips_save_png(VipsImage *image, VipsTarget *target, int strip) {
  return vips_pngsave_target(image, target, "strip", strip, NULL);
}
static inline int cvips_save_webp(VipsImage *image, VipsTarget *target, int quality, int strip) {
  return vips_webpsave_target(image, target, "Q", quality, "strip", strip, NULL);
}
static inline int cvips_save_gif(VipsImage *image, VipsTarget *target, int strip) {
  return vips_gifsave_target(image, target, "strip", strip, NULL);
}
static inline int cvips_save_avif(VipsImage *image, VipsTarget *target, int quality, int strip) {
  return vips_heifsave_target(image, target, "Q", quality, "strip", strip, "compression",
                              VIPS_FOREIGN_HEIF_COMPRESSION_AV1, NULL);
}

// The function-like macros of the headers.
static inline int cvips_has_field(VipsImage *image, const char *name) {
  return vips_image_get_typeof(image, name) != 0;
}
#endif
