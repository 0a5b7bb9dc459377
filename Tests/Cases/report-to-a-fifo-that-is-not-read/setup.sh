long=$(head -c 200000 /dev/zero | tr '\0' x)
cat >pipeline.yml <<END
name: job
outputs: {long: "\${{ steps.a.outputs.long }}"}
steps: [{id: a, name: $long, outputs: {long: string}, run: "head -c 200000 /dev/zero | tr '\\\\0' x | sed 's/^/long=/' >>\$OPRUN_OUTPUT"}]
END
