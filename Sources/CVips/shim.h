// What libvips' headers say. Sources/CLate calls it.
#include <vips/vips.h>
