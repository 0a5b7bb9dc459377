{
  echo 'steps:'
  echo '  - id: long'
  echo '    run: |'
  echo '      echo begin'
  for i in $(seq 4000); do echo '      : a comment of about fifty characters for the shell'; done
  echo '      echo end'
} >pipeline.yml
