#include "CVipsTesting.h"

#include <string.h>

int cvips_test_save(VipsImage *image, const char *suffix, void **memory, size_t *size) {
  return vips_image_write_to_buffer(image, suffix, memory, size, NULL);
}

VipsImage *cvips_test_without_alpha(VipsImage *image) {
  VipsImage *opaque = NULL;
  return vips_extract_band(image, &opaque, 0, "n", 3, NULL) ? NULL : opaque;
}

VipsImage *cvips_test_open(const void *bytes, size_t size) {
  return vips_image_new_from_buffer(bytes, size, "", NULL);
}

static VipsImage *replaced(VipsImage *old, VipsImage *new) {
  g_object_unref(old);
  return new;
}

VipsImage *cvips_test_load(const void *bytes, size_t size) {
  int has_frames = size > 4 && (!memcmp(bytes, "GIF8", 4) || !memcmp(bytes, "RIFF", 4));
  VipsImage *image = vips_image_new_from_buffer(bytes, size, has_frames ? "n=-1" : "", NULL);
  VipsImage *next = NULL;
  if (!image) return NULL;
  if (vips_colourspace(image, &next, VIPS_INTERPRETATION_sRGB, NULL)) return replaced(image, NULL);
  image = replaced(image, next);
  if (vips_cast_uchar(image, &next, NULL)) return replaced(image, NULL);
  image = replaced(image, next);
  if (vips_image_hasalpha(image)) return image;
  if (vips_addalpha(image, &next, NULL)) return replaced(image, NULL);
  return replaced(image, next);
}
