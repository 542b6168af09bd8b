internal import CMigrations
internal import QuakeSchema

/// What this program was built from.
package enum Build {
  /// The commit, such as `1a2b3c4d`, or `1a2b3c4d-dirty` with changes that are not committed; nil if the build was not
  /// told, as that of a folder without git.
  package static let commit: String? = {
    let named = String(cString: quake_commit())
    return named.isEmpty ? nil : named
  }()

  /// Commit and schema, as `--version` states them after the version.
  static var text: String { "\(commitText), schema \(Migrator.knownVersion)" }

  /// A program with version and commit, as the ledger of migrations records it.
  package static func program(_ tool: String) -> String {
    "\(tool) \(productVersion) (\(commitText))"
  }

  private static var commitText: String { "commit \(commit ?? "unknown")" }
}

extension PrometheusText {
  /// Writes which program this is.
  package mutating func buildInfo() {
    gauge(
      "quake_build_info", "Version, commit and schema of the program that writes these metrics.",
      [
        Sample(
          1,
          [
            "version": productVersion, "commit": Build.commit ?? "unknown",
            "schema": "\(Migrator.knownVersion)",
          ])
      ])
  }
}
