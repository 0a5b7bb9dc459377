ls after-was-run
