// SwiftPM wants one source file in a C target; everything is in the header.
#include "CLinux.h"
