echo '#!/usr/bin/no-such-interpreter' >script
chmod +x script
