rm -r out
sed 's/^/    /' cache.yml >>pipeline.yml
oprun pipeline.yml
cat out/all.c
