mkdir bin
printf '#!/bin/sh\necho program-of-bin "$@"\n' >bin/program-of-bin
chmod +x bin/program-of-bin
