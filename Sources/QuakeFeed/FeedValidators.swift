/// What a server said of the version it sent last, so that it need not send the same again.
public struct FeedValidators: Sendable, Hashable {
  /// The `ETag` header, as it was.
  public var etag: String?
  /// The `Last-Modified` header, as it was.
  public var lastModified: String?

  /// The validators of a version fetched before.
  public init(etag: String? = nil, lastModified: String? = nil) {
    self.etag = etag
    self.lastModified = lastModified
  }
}
