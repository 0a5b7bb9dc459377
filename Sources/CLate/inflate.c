// Decompression for libpng by ISA-L, which needs less than half the time of zlib. libpng calls
// zlib's functions, and those that this program defines are found before those of libz.so.1. They
// handle only streams that leave the size of the window to the header, as those of libpng do, and
// only if ISA-L is loaded; for all others they call zlib.
//
// They give the same results as zlib, except for streams that are not valid: some incomplete codes
// and distances before the beginning of a small window are accepted, and of bytes that follow a
// stream, up to seven may be taken.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <isa-l.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "CLate.h"
#include "late.h"

#define FUNCTIONS(each) each(isal_inflate) each(isal_inflate_init)

_Static_assert(ISAL_MAJOR_VERSION == 2, "ISA-L has another name");
LATE_TABLE(isal, "libisal.so.2", FUNCTIONS);

int cinflate_load(void) { return late_load(&isal_library) == NULL; }

// MARK: zlib's own functions

#define REPLACED(each)                                                                      \
  each(inflateInit2_) each(inflateReset) each(inflateReset2) each(inflateValidate)          \
  each(inflate) each(inflateEnd)

static struct {
  REPLACED(LATE_FIELD)
} zlib;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void find_zlib(void) {
  static const char *const names[] = {REPLACED(LATE_NAME)};
  void **places = (void **)&zlib;
  for (size_t index = 0; index < sizeof(names) / sizeof(*names); index++) {
    places[index] = dlsym(RTLD_NEXT, names[index]);
    if (!places[index]) late_give_up("zlib is missing");
  }
}

#define ZLIB(call) (pthread_once(&once, find_zlib), zlib.call)

// MARK: Streams

struct stream {
  // The address of a mark of our own, where zlib has that of the z_stream: zlib refuses a state
  // with another address there.
  const void *mark;
  unsigned char header[2], trailer[4];
  unsigned header_count, trailer_count;
  int is_checked;
  uLong checksum;
  // The number of input bytes that ISA-L has already taken. It keeps output for which there is no
  // room, when it may have taken all of the input. But libpng asks for output only if there is
  // input left, so then the last byte is left, and not given to ISA-L again.
  uInt taken;
  // A fault that is reported after all the data decompressed before it; NULL if there is none.
  const char *fault;
  // Z_OK until the end.
  int result;
  struct inflate_state state;
};
static const char mark;

static struct stream *stream_of(z_streamp from) {
  struct stream *stream = from ? (struct stream *)from->state : NULL;
  return stream && stream->mark == &mark ? stream : NULL;
}

static int start(z_streamp from, struct stream *stream, int is_checked) {
  memset(stream, 0, offsetof(struct stream, state));
  stream->mark = &mark;
  stream->is_checked = is_checked;
  stream->checksum = adler32(0, NULL, 0);
  isal.isal_inflate_init(&stream->state);
  from->total_in = from->total_out = 0;
  from->msg = NULL;
  return Z_OK;
}

int inflateInit2_(z_streamp from, int bits, const char *version, int size) {
  if (!isal.isal_inflate || bits != 0 || !from)
    return ZLIB(inflateInit2_)(from, bits, version, size);
  struct stream *stream = malloc(sizeof(*stream));
  if (!stream) return Z_MEM_ERROR;
  from->state = (struct internal_state *)stream;
  return start(from, stream, 1);
}

int inflateReset(z_streamp from) {
  struct stream *stream = stream_of(from);
  return stream ? start(from, stream, stream->is_checked) : ZLIB(inflateReset)(from);
}

int inflateReset2(z_streamp from, int bits) {
  struct stream *stream = stream_of(from);
  if (!stream) return ZLIB(inflateReset2)(from, bits);
  if (bits == 0) return start(from, stream, 1);
  inflateEnd(from);
  return ZLIB(inflateInit2_)(from, bits, ZLIB_VERSION, sizeof(*from));
}

int inflateValidate(z_streamp from, int is_checked) {
  struct stream *stream = stream_of(from);
  if (!stream) return ZLIB(inflateValidate)(from, is_checked);
  stream->is_checked = is_checked;
  return Z_OK;
}

int inflateEnd(z_streamp from) {
  struct stream *stream = stream_of(from);
  if (!stream) return ZLIB(inflateEnd)(from);
  free(stream);
  from->state = NULL;
  return Z_OK;
}

// MARK: Decompression

static int next_byte(z_streamp from, unsigned char *byte) {
  if (from->avail_in == 0) return 0;
  from->avail_in--;
  *byte = *from->next_in++;
  return 1;
}

// RFC 1950, 2.2, with zlib's messages.
static void take_header(struct stream *stream, z_streamp from) {
  while (stream->header_count < 2 && next_byte(from, &stream->header[stream->header_count]))
    stream->header_count++;
  if (stream->header_count < 2) return;
  unsigned first = stream->header[0], second = stream->header[1];
  if ((first << 8 | second) % 31 != 0) stream->fault = "incorrect header check";
  else if ((first & 15) != Z_DEFLATED) stream->fault = "unknown compression method";
  else if (first >> 4 > 7) stream->fault = "invalid window size";
  else if (second & 32) stream->result = Z_NEED_DICT;
}

static const char *fault_of(int result) {
  switch (result) {
    case ISAL_INVALID_BLOCK: return "invalid block";
    case ISAL_INVALID_SYMBOL: return "invalid code";
    case ISAL_INVALID_LOOKBACK: return "invalid distance too far back";
    default: return "invalid data";
  }
}

// True if decompression can continue without more input.
static int holds_more(const struct inflate_state *state) {
  return state->tmp_out_valid > state->tmp_out_processed || state->write_overflow_len > 0 ||
         state->copy_overflow_length > 0 || state->read_in_length >= 8;
}

// Continues with the data between header and trailer.
static void decompress(struct stream *stream, z_streamp from) {
  struct inflate_state *state = &stream->state;
  const Bytef *given = from->next_in;
  state->next_in = from->next_in + stream->taken;
  state->avail_in = from->avail_in - stream->taken;
  state->next_out = from->next_out;
  state->avail_out = from->avail_out;
  int result = isal.isal_inflate(state);
  if (result < 0) stream->fault = fault_of(result);
  from->next_in = state->next_in;
  from->avail_in = state->avail_in;
  from->next_out = state->next_out;
  from->avail_out = state->avail_out;
  stream->taken = 0;
  if (from->avail_out > 0 || from->avail_in > 0 || from->next_in == given) return;
  if (!holds_more(state)) return;
  from->next_in--;
  from->avail_in = stream->taken = 1;
}

// Hands out what was decompressed before a fault, and then reports it.
static void drain(struct stream *stream, z_streamp from) {
  struct inflate_state *state = &stream->state;
  uInt count = (uInt)(state->tmp_out_valid - state->tmp_out_processed);
  if (count > from->avail_out) count = from->avail_out;
  memcpy(from->next_out, state->tmp_out_buffer + state->tmp_out_processed, count);
  state->tmp_out_processed += (int32_t)count;
  from->next_out += count;
  from->avail_out -= count;
  if (from->avail_out > 0) stream->result = Z_DATA_ERROR;
}

// Completes the trailer. ISA-L may already have its first bytes, and a few that follow it. The
// latter are given back, if they were given in this call.
static void take_trailer(struct stream *stream, z_streamp from, uInt given) {
  struct inflate_state *state = &stream->state;
  from->next_in += stream->taken;
  from->avail_in -= stream->taken;
  stream->taken = 0;
  state->read_in >>= state->read_in_length % 8;
  state->read_in_length -= state->read_in_length % 8;
  for (; stream->trailer_count < 4; stream->trailer_count++) {
    unsigned char *byte = &stream->trailer[stream->trailer_count];
    if (state->read_in_length == 0) {
      if (!next_byte(from, byte)) return;
      continue;
    }
    *byte = (unsigned char)state->read_in;
    state->read_in >>= 8;
    state->read_in_length -= 8;
  }
  uInt surplus = (uInt)state->read_in_length / 8;
  if (surplus > given - from->avail_in) surplus = given - from->avail_in;
  from->next_in -= surplus;
  from->avail_in += surplus;
  stream->result = Z_STREAM_END;
  uLong wanted = 0;
  for (int index = 0; index < 4; index++) wanted = wanted << 8 | stream->trailer[index];
  if (!stream->is_checked || wanted == stream->checksum) return;
  stream->fault = "incorrect data check";
  stream->result = Z_DATA_ERROR;
}

static void advance(struct stream *stream, z_streamp from) {
  uInt given = from->avail_in;
  if (stream->header_count < 2) take_header(stream, from);
  if (stream->header_count < 2 || stream->result != Z_OK) return;
  const Bytef *output = from->next_out;
  if (!stream->fault && stream->state.block_state != ISAL_BLOCK_FINISH) decompress(stream, from);
  if (stream->fault) drain(stream, from);
  if (stream->is_checked)
    stream->checksum = adler32(stream->checksum, output, (uInt)(from->next_out - output));
  if (!stream->fault && stream->state.block_state == ISAL_BLOCK_FINISH)
    take_trailer(stream, from, given);
}

int inflate(z_streamp from, int flush) {
  struct stream *stream = stream_of(from);
  if (!stream) return ZLIB(inflate)(from, flush);
  if (!from->next_out || (!from->next_in && from->avail_in > 0)) return Z_STREAM_ERROR;
  uInt in = from->avail_in, out = from->avail_out;
  if (stream->result == Z_OK) advance(stream, from);
  in -= from->avail_in;
  out -= from->avail_out;
  from->total_in += in;
  from->total_out += out;
  if (stream->result == Z_DATA_ERROR) from->msg = (char *)stream->fault;
  if (stream->result != Z_OK) return stream->result;
  return (in == 0 && out == 0) || flush == Z_FINISH ? Z_BUF_ERROR : Z_OK;
}
