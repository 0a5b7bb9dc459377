// Decodes images and does nothing else with them: decode zlib|isal FILE… prints the processor time
// in seconds for all JPEGs, then for all PNGs. JPEGs are decoded at the smallest scale that leaves
// twice a width of 300, as for a thumbnail; the checksums of chunks are checked.
#include <err.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <jpeglib.h>

#include "CLate.h"

static unsigned char *content(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END)) err(1, "%s", path);
  *size = (size_t)ftell(file);
  rewind(file);
  unsigned char *bytes = malloc(*size);
  if (fread(bytes, 1, *size, file) != *size) err(1, "%s", path);
  fclose(file);
  return bytes;
}

static void decode_jpeg(unsigned char *bytes, size_t size) {
  struct jpeg_error_mgr errors;
  struct jpeg_decompress_struct image = {.err = jpeg_std_error(&errors)};
  jpeg_create_decompress(&image);
  jpeg_mem_src(&image, bytes, size);
  jpeg_read_header(&image, TRUE);
  image.scale_denom = 8;
  while (image.scale_denom > 1 && image.image_width / image.scale_denom < 600)
    image.scale_denom /= 2;
  jpeg_start_decompress(&image);
  JSAMPROW row = malloc(image.output_width * (size_t)image.output_components);
  while (image.output_scanline < image.output_height) jpeg_read_scanlines(&image, &row, 1);
  jpeg_finish_decompress(&image);
  jpeg_destroy_decompress(&image);
  free(row);
}

struct source {
  unsigned char *next;
  size_t left;
};

static void take(png_structp png, png_bytep bytes, size_t count) {
  struct source *source = png_get_io_ptr(png);
  if (count > source->left) errx(1, "an image ends too early");
  memcpy(bytes, source->next, count);
  source->next += count;
  source->left -= count;
}

static void decode_png(unsigned char *bytes, size_t size) {
  struct source source = {bytes, size};
  png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
  png_infop info = png_create_info_struct(png);
  png_set_read_fn(png, &source, take);
  png_set_option(png, PNG_IGNORE_ADLER32, PNG_OPTION_ON);
  png_read_info(png, info);
  png_bytep row = malloc(png_get_rowbytes(png, info));
  for (png_uint_32 left = png_get_image_height(png, info); left > 0; left--)
    png_read_row(png, row, NULL);
  png_destroy_read_struct(&png, &info, NULL);
  free(row);
}

int main(int count, char **words) {
  if (count < 2) errx(2, "usage: decode zlib|isal FILE…");
  if (strcmp(words[1], "isal") == 0 && !cinflate_load()) errx(1, "ISA-L is missing");
  double seconds[2] = {0, 0};
  for (int index = 2; index < count; index++) {
    size_t size;
    unsigned char *bytes = content(words[index], &size);
    int is_png = size > 0 && bytes[0] == 0x89;
    clock_t start = clock();
    (is_png ? decode_png : decode_jpeg)(bytes, size);
    seconds[is_png] += (double)(clock() - start) / CLOCKS_PER_SEC;
    free(bytes);
  }
  printf("%.2f %.2f\n", seconds[0], seconds[1]);
}
