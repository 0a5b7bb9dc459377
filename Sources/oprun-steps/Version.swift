// The version, which is that of oprun.

let version = "0.1.0"
