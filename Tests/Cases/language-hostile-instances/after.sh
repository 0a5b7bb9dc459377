ls | grep -v expected; ls .oprun/runs/*/ | grep -c log
