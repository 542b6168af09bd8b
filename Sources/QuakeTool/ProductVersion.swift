/// The version of all of Quake's programs, which are built together.
public let productVersion = "0.1.0"

/// When it was released, for the manual pages.
let productDate = "2026-11-21"
