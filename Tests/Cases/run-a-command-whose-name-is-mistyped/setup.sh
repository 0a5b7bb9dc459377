mkdir bin
printf '#!/bin/sh\n' >bin/mytool
chmod +x bin/mytool
: >bin/mytoll
