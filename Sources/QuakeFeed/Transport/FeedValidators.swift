/// What a server said of the version it sent last, so that it need not send the same again.
public struct FeedValidators: Sendable, Hashable {
  /// The `ETag` header, as it was.
  public var etag: String?
  /// The `Last-Modified` header, as it was.
  public var lastModified: String?

  /// The most bytes that one may have. They are stored, and sent back with each request.
  static let maximumBytes = 1024

  /// A header's value, unless it is longer than any that a server needs: then it is none.
  static func usable(_ value: String?) -> String? {
    value.flatMap { $0.utf8.count <= maximumBytes ? $0 : nil }
  }

  /// The validators of a version fetched before.
  public init(etag: String? = nil, lastModified: String? = nil) {
    self.etag = etag
    self.lastModified = lastModified
  }
}
