ls; ls .oprun/runs/*/ | grep -c log
