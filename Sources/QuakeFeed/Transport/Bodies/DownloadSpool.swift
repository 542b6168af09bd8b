import Glibc

/// Stores the body of a download, as it is received, in an unnamed file. The file is created with the first
/// byte, because most polls have no body.
final class DownloadSpool {
  private let folder: String
  private let limit: Int
  private(set) var count = 0
  private var file: Int32 = -1
  /// Why the body cannot be kept.
  private(set) var failure: FeedError?

  /// - Parameters:
  ///   - folder: The folder of the file.
  ///   - limit: The most bytes; more is an error.
  init(in folder: String, limit: Int) {
    self.folder = folder
    self.limit = limit
  }

  deinit { if file >= 0 { close(file) } }

  /// Appends bytes; false on an error.
  func take(_ bytes: UnsafeRawBufferPointer, of name: String) -> Bool {
    do throws(FeedError) {
      guard count + bytes.count <= limit else { throw .bodyTooLarge("\"\(name)\"", limit: limit) }
      try open()
      try BodyFile.write(bytes, to: file)
      count += bytes.count
      return true
    } catch {
      failure = error
      return false
    }
  }

  private func open() throws(FeedError) {
    if file < 0 { file = try BodyFile.create(in: folder) }
  }

  /// Passes the descriptor to the caller, which closes it.
  func release() throws(FeedError) -> Int32 {
    try open()
    defer { file = -1 }
    return file
  }
}
