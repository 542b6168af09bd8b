public import CommandLine
public import QuakeModel

extension StandardOutput {
  /// Writes values, as one JSON object a line or as text, and flushes.
  ///
  /// - Parameters:
  ///   - members: Writes the members of a value's object.
  ///   - text: Returns the text of all values, with a line feed at its end.
  public func write<Value>(
    _ values: [Value], isJSON: Bool, members: (Value, inout JSONWriter) -> Void,
    text: ([Value]) -> String
  ) throws {
    if isJSON {
      var json = JSONWriter()
      for value in values {
        json.object { members(value, &$0) }
        json.newline()
        try json.withBytes { try write($0) }
        json.removeAll()
      }
    } else {
      try write(text(values))
    }
    try flush()
  }
}
