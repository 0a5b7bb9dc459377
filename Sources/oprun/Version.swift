// The version, in a single place.

let version: StaticString = "0.1.0"
