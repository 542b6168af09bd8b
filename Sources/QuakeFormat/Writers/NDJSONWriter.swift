internal import QuakeModel

/// One event a line, with a member for each column, as `quake-query list --json` prints it.
struct NDJSONWriter: EventWriter {
  private var json = JSONWriter()

  var count: Int { json.count }

  mutating func begin(_ head: DocumentHead) {}

  mutating func event(_ event: QuakeRecord, revision: Int64?) {
    json.quake(event)
    json.newline()
  }

  mutating func end() {}

  mutating func drain(_ body: (UnsafeRawBufferPointer) throws -> Void) rethrows {
    try json.withBytes(body)
    json.removeAll()
  }
}
