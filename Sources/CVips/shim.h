// The headers of libvips. Sources/CLate calls the functions.
#include <vips/vips.h>
