import CommandLine
import QuakeFeed

/// The configuration file of `quake-ingest`, in which addresses of feeds may contain secrets.
enum IngestConfiguration {
  /// Adds the options of the configuration file, if there is one, to a command line.
  static func complete(
    _ arguments: ParsedArguments, _ diagnostics: inout Diagnostics
  ) throws -> ParsedArguments {
    try CommandConfiguration.complete(arguments, &diagnostics) { settings in
      settings.first { $0.key == "feed" && FeedURL.holdsSecret(TimedValue($0.value).value) }
        .map {
          (
            "a password or a token of a feed", $0.line,
            "refer to the secret in the value: ${NAME}, ${file:PATH} or ${credential:NAME}."
          )
        }
    }
  }
}
