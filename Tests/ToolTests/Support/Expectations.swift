import Glibc
import TestSupport
import Testing

extension ToolProcess.Outcome {
  /// Expects an exit status, messages that contain all of `words`, and what else is named.
  ///
  /// - Parameters:
  ///   - parts: Parts of standard output.
  ///   - value: What the tool was run with, for the report of a failure.
  @discardableResult
  func expect(
    _ status: Int32, _ words: String..., printing parts: String..., output: String? = nil,
    lines: [String]? = nil, errors: String? = nil, with value: Any? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) -> Self {
    let all: Comment = "\(value.map { "with \($0): " } ?? "")\(ending) \(self.errors)\(self.output)"
    #expect(self.status == status, all, sourceLocation: sourceLocation)
    for words in words {
      #expect(self.errors.contains(words), all, sourceLocation: sourceLocation)
    }
    for part in parts {
      #expect(self.output.contains(part), all, sourceLocation: sourceLocation)
    }
    if let output { #expect(self.output == output, all, sourceLocation: sourceLocation) }
    if let lines { #expect(self.lines == lines, all, sourceLocation: sourceLocation) }
    if let errors { #expect(self.errors == errors, all, sourceLocation: sourceLocation) }
    return self
  }

  /// Expects that the tool failed with a status before it printed anything, and that its messages contain all of
  /// `words`.
  @discardableResult
  func expectFailure(
    _ status: Int32, _ words: String..., with value: Any? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) -> Self {
    for words in words {
      #expect(errors.contains(words), "\(errors)", sourceLocation: sourceLocation)
    }
    return expect(status, output: "", with: value, sourceLocation: sourceLocation)
  }

  /// Ends the test with what the tool said unless its status is 0.
  @discardableResult
  func requireSuccess(sourceLocation: SourceLocation = #_sourceLocation) throws -> Self {
    try #require(status == 0, "\(ending) \(errors)\(output)", sourceLocation: sourceLocation)
    return self
  }
}

extension ToolProcess {
  /// Sends the program a signal; its status must be 0.
  @discardableResult
  func end(
    by signal: Int32 = SIGTERM, sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> Outcome {
    self.signal(signal)
    return try exit().expect(0, sourceLocation: sourceLocation)
  }
}

extension RawConnection.Answer {
  /// Expects a status, and a body that contains all of `words`.
  @discardableResult
  func expect(
    _ status: Int, _ words: String..., with value: Any? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) -> Self {
    let all: Comment = "\(value.map { "with \($0): " } ?? "")\(self.status) \(text)"
    #expect(self.status == status, all, sourceLocation: sourceLocation)
    for words in words { #expect(text.contains(words), all, sourceLocation: sourceLocation) }
    return self
  }
}
