// libvips with ISA-L, libcurl and libcrypto, each loaded when a function that needs it is first
// called. So a command that needs none of them starts without them.
#ifndef CLATE_H
#define CLATE_H

#include <curl/curl.h>
#include <stddef.h>
#include <vips/vips.h>

// MARK: libvips

// Loads libvips. NULL if it is available; otherwise why it is not.
const char *cvips_load(void);

// The version of the library; "" if it is not available.
const char *cvips_version(void);

// Initialises libvips, once in a process, with one thread per image and without searching for
// modules. 0 on success.
int cvips_start(void);

// Blocks the loaders that are known at that time.
void cvips_block_loaders(void);
// Allows a class of operations, if it exists.
void cvips_allow(const char *name);

// Loads a module, such as the one for HEIF and AVIF, from the directory of the library. 0 on
// success.
int cvips_load_module(const char *name);

// True if a class of operations exists, such as "VipsForeignLoadHeif".
int cvips_has(const char *name);
void cvips_release(void *object);
void cvips_free(void *memory);
const char *cvips_messages(void);
void cvips_forget_messages(void);
int cvips_width(VipsImage *image);
int cvips_height(VipsImage *image);
int cvips_bands(VipsImage *image);
int cvips_has_alpha(VipsImage *image);
int cvips_frame_height(VipsImage *image);
int cvips_frame_count(VipsImage *image);
int cvips_orientation(VipsImage *image);
VipsBandFormat cvips_format(VipsImage *image);
VipsInterpretation cvips_interpretation(VipsImage *image);
int cvips_bytes_per_pixel(VipsImage *image);
int cvips_has_field(VipsImage *image, const char *name);
void cvips_set_number(VipsImage *image, const char *name, int value);
void cvips_copy_field(VipsImage *from, VipsImage *to, const char *name);
VipsSource *cvips_source(int descriptor);
VipsTarget *cvips_target(int descriptor);

// Images with four bands of eight bits, in sRGB; the first function does not copy the pixels.
VipsImage *cvips_around_pixels(const void *pixels, size_t size, int width, int height);
VipsImage *cvips_of_pixels(const void *pixels, size_t size, int width, int height);

// Functions that make an image return NULL on failure.

// The image without metadata that is not needed to store and show its pixels.
VipsImage *cvips_without_metadata(VipsImage *from);
VipsImage *cvips_decoded(VipsImage *image);

// The pixels of an image, to be released with cvips_free.
void *cvips_pixels(VipsImage *image, size_t *size);

// Load an image; `pages` is 1 for only the first, -1 for all.
VipsImage *cvips_load_jpeg(VipsSource *source, int shrink);
VipsImage *cvips_load_png(VipsSource *source);
VipsImage *cvips_load_webp(VipsSource *source, int pages, double scale);
VipsImage *cvips_load_gif(VipsSource *source, int pages);
VipsImage *cvips_load_tiff(VipsSource *source);
VipsImage *cvips_load_jxl(VipsSource *source);
VipsImage *cvips_load_heif(VipsSource *source);

// Scales to exactly this size, rotated upright if `turns`. `profile` can be NULL.
VipsImage *cvips_thumbnail_source(
    VipsSource *source, const char *options, int width, int height, int turns,
    const char *profile);
VipsImage *cvips_thumbnail_image(
    VipsImage *from, int width, int height, int turns, const char *profile);
VipsImage *cvips_extract(VipsImage *from, int left, int top, int width, int height);
VipsImage *cvips_to_space(VipsImage *from, VipsInterpretation space);
VipsImage *cvips_to_bytes(VipsImage *from);
VipsImage *cvips_with_alpha(VipsImage *from);
VipsImage *cvips_flatten(VipsImage *from, double red, double green, double blue);
VipsImage *cvips_embed(
    VipsImage *from, int left, int top, int width, int height, const double *color, int bands);

// Save an image. Return 0 on success.
int cvips_save_jpeg(
    VipsImage *image, VipsTarget *target, int quality, int strip, int optimize);
int cvips_save_png(VipsImage *image, VipsTarget *target, int strip);
int cvips_save_webp(VipsImage *image, VipsTarget *target, int quality, int strip);
int cvips_save_gif(VipsImage *image, VipsTarget *target, int strip);
int cvips_save_avif(VipsImage *image, VipsTarget *target, int quality, int strip);
int cvips_save_tiff(VipsImage *image, VipsTarget *target, int strip);
int cvips_save_heic(VipsImage *image, VipsTarget *target, int quality, int strip);
int cvips_save_jxl(VipsImage *image, VipsTarget *target, int quality, int strip);

// MARK: ISA-L

// Loads ISA-L; true if it is available. From then on, it decompresses what libpng reads.
int cinflate_load(void);

// MARK: libcurl

typedef size_t (*ccurl_take)(char *bytes, size_t size, size_t count, void *context);

// libcurl's curl_easy_…, with plain functions in place of variadic ones.
CURL *ccurl_easy_new(void);
void ccurl_easy_free(CURL *easy);
const char *ccurl_words(CURLcode code);
void ccurl_free(void *memory);
CURLcode ccurl_set_long(CURL *easy, CURLoption option, long value);

// Sets strings, lists and pointers.
CURLcode ccurl_set_pointer(CURL *easy, CURLoption option, const void *value);
CURLcode ccurl_set_take(CURL *easy, CURLoption option, ccurl_take function);
CURLcode ccurl_set_progress(CURL *easy, curl_xferinfo_callback function);
CURLcode ccurl_set_seek(CURL *easy, curl_seek_callback function);
CURLcode ccurl_set_open_socket(CURL *easy, curl_opensocket_callback function);
CURLcode ccurl_get_long(CURL *easy, CURLINFO info, long *value);
CURLcode ccurl_get_text(CURL *easy, CURLINFO info, char **value);

// Lists of strings; the empty one is NULL.
struct curl_slist *ccurl_list_add(struct curl_slist *list, const char *text);
void ccurl_list_free(struct curl_slist *list);

// libcurl's curl_multi_….
CURLM *ccurl_multi_new(void);
void ccurl_multi_free(CURLM *multi);
CURLMcode ccurl_set_multi_long(CURLM *multi, CURLMoption option, long value);
void ccurl_multi_add(CURLM *multi, CURL *easy);
void ccurl_multi_remove(CURLM *multi, CURL *easy);
void ccurl_multi_perform(CURLM *multi);
void ccurl_multi_wait(CURLM *multi, int milliseconds);
void ccurl_multi_wake(CURLM *multi);

// The next transfer that has ended, with its result; NULL if there are no more.
CURL *ccurl_multi_next_ended(CURLM *multi, CURLcode *result);
curl_socket_t ccurl_bad_socket(void);

// libcurl's curl_url_….
CURLU *ccurl_url_new(void);
void ccurl_url_free(CURLU *url);
CURLUcode ccurl_url_get(CURLU *url, CURLUPart part, char **text, unsigned flags);
CURLUcode ccurl_url_set(CURLU *url, CURLUPart part, const char *text, unsigned flags);

// MARK: libcrypto

// Starts a hash.
void *ccrypto_sha256_start(void);
void ccrypto_sha256_add(void *context, const void *bytes, size_t count);

// The hash of everything so far; more can follow.
void ccrypto_sha256_result(void *context, unsigned char *digest);
void ccrypto_sha256_end(void *context);

#endif
