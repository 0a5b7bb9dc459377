cat ran
