// What tests need of libvips beyond what the program does: images in memory, of any format.
#ifndef CVIPS_TESTING_H
#define CVIPS_TESTING_H

#include <vips/vips.h>

// `suffix` chooses the format. 0 on success; g_free the memory.
int cvips_test_save(VipsImage *image, const char *suffix, void **memory, size_t *size);

// The first three bands of an image. NULL on failure.
VipsImage *cvips_test_without_alpha(VipsImage *image);

// All frames, as four bands of eight bits, in sRGB as the numbers stand. NULL on failure.
VipsImage *cvips_test_load(const void *bytes, size_t size);

// The first frame with all that belongs to it.
VipsImage *cvips_test_open(const void *bytes, size_t size);

#endif
