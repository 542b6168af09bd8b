import Glibc

/// The body of a download, as it comes over the wire, in a file without a name. It is made when the first
/// byte comes: most polls bring none.
final class DownloadSpool {
  private let folder: String
  private let limit: Int
  private(set) var count = 0
  private var file: Int32 = -1
  /// Why the body cannot be kept.
  private(set) var failure: FeedError?

  /// - Parameters:
  ///   - folder: Where the file is.
  ///   - limit: The most bytes that are kept; more is an error.
  init(in folder: String, limit: Int) {
    self.folder = folder
    self.limit = limit
  }

  deinit { if file >= 0 { close(file) } }

  /// Keeps bytes; false if they cannot be kept.
  func take(_ bytes: UnsafeRawBufferPointer, of name: String) -> Bool {
    do throws(FeedError) {
      guard count + bytes.count <= limit else { throw .bodyTooLarge("\"\(name)\"", limit: limit) }
      try open()
      try UnnamedFile.write(bytes, to: file)
      count += bytes.count
      return true
    } catch {
      failure = error
      return false
    }
  }

  private func open() throws(FeedError) {
    if file < 0 { file = try UnnamedFile.create(in: folder) }
  }

  /// Gives the file away; the caller closes it.
  func release() throws(FeedError) -> Int32 {
    try open()
    defer { file = -1 }
    return file
  }
}
