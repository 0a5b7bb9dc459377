mkdir -p src/main
