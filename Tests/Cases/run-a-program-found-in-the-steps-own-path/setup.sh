mkdir bin
printf '#!/bin/sh\necho mytool "$@"\n' >bin/mytool
chmod +x bin/mytool
