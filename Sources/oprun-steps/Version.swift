// The version, which is oprun's.

let version = "0.1.0"
