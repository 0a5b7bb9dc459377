grep -r -e s3cret -e inner-value .oprun && echo found; echo searched
