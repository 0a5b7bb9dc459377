word=$(head -c 100000 /dev/zero | tr '\0' x)
{
  echo 'max_parallel: 1'
  echo 'steps:'
  echo '  - id: long'
  echo '    run:'
  echo '      - echo'
  for i in $(seq 30); do echo "      - $word"; done
  echo '  - {id: fine, run: echo fine}'
} >pipeline.yml
