/// The operator's settings for the page.
public struct PageSettings: Sendable {
  /// Whether the page offers no edits, whatever the server accepts.
  public var isReadOnly = false
  /// The tiles below the map; nil: it shows coastlines and borders only.
  public var tiles: TileURL?

  /// The usual page.
  public init() {}
}
