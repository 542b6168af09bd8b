import Glibc
public import Postgres
public import QuakeFeed
internal import QuakeImport

/// The body of a snapshot in quarantine, as a feed that can be read again.
public struct QuarantinedFeed {
  private let quarantine: Quarantine
  private let id: Int64

  /// The stored body of import `id`.
  public init(import id: Int64, over connection: Connection) {
    quarantine = Quarantine(connection: connection)
    self.id = id
  }

  /// The body's bytes, decompressed; nil if none is stored.
  ///
  /// - Parameter folder: The folder of the temporary file that they are read from.
  public func open(in folder: String) throws -> (any ByteSource)? {
    let file = try BodyFile.create(in: folder)
    // From here on the source closes the file.
    let source = FileDescriptorSource(
      descriptor: file, closes: true, name: "the body of import \(id)")
    let isKept = try quarantine.withBody(of: id) { try BodyFile.write($0, to: file) }
    guard isKept else { return nil }
    lseek(file, 0, SEEK_SET)
    return DecompressingSource(source, name: "the body of import \(id)")
  }
}
