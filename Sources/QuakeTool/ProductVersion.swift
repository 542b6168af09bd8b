/// The version of all of Quake's programs, which are built together.
public let productVersion = "0.1.0"

/// The project's page for problems.
let problemsAddress = "https://github.com/quake-project/quake/issues"

/// When it was released, for the manual pages.
let productDate = "2026-11-21"
