public import CommandLine

extension StandardOutput {
  /// Writes a line that tells what a command did. It is not what the command was asked to print, so that
  /// `--quiet` leaves it out.
  public func writeResult(
    _ line: String, _ diagnostics: Diagnostics
  ) throws(OutputError) {
    guard diagnostics.verbosity > .quiet else { return }
    try writeLine(line)
  }
}
