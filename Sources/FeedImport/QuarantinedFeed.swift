import Glibc
public import Postgres
public import QuakeFeed
internal import QuakeStore

/// The body of a snapshot in quarantine, as a feed that can be read again.
public struct QuarantinedFeed {
  private let quarantine: Quarantine
  private let id: Int64

  /// The body that is kept of import `id`.
  public init(import id: Int64, over connection: Connection) {
    quarantine = Quarantine(connection: connection)
    self.id = id
  }

  /// The body's bytes, decompressed; nil if none is kept.
  public func open() throws -> (any ByteSource)? {
    var path = Array("/tmp/quake-body-XXXXXX".utf8CString)
    let file = mkstemp(&path)
    guard file >= 0 else { throw Self.failure("create") }
    // From here on the source closes it.
    let source = FileDescriptorSource(
      descriptor: file, closes: true, name: "the body of import \(id)")
    unlink(path)
    let isKept = try quarantine.withBody(of: id) { part in
      var rest = part
      while !rest.isEmpty {
        let count = write(file, rest.baseAddress, rest.count)
        guard count > 0 else { throw Self.failure("write") }
        rest = UnsafeRawBufferPointer(rebasing: rest[count...])
      }
    }
    guard isKept else { return nil }
    lseek(file, 0, SEEK_SET)
    return DecompressingSource(source, name: "the body of import \(id)")
  }

  private static func failure(_ what: String) -> FeedError {
    FeedError(
      .unreadable, "could not \(what) a temporary file in \"/tmp\"",
      detail: String(cString: strerror(errno)) + ".")
  }
}
