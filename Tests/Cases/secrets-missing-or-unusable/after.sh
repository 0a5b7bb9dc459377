ls -d .oprun 2>&1 || true
