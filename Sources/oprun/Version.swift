// The version, in its one place.

let version: StaticString = "0.1.0"
