/// The program schemathesis from PyPI, which tests a server by its OpenAPI document.
enum Schemathesis {
  /// Its path; nil if it cannot be installed.
  static let program = InstalledProgram.path(
    from: "schemathesis.sh", variable: "QUAKE_SCHEMATHESIS")

  static let isMissing = "could not install schemathesis from PyPI"
}
