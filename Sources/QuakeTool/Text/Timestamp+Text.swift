internal import CommandLine
public import QuakeModel
public import QuakeWorker

extension Timestamp {
  /// The moment as people read it; see `MomentText`.
  public var text: String { MomentText.text(microseconds: microseconds) }
}

extension FeedPause {
  /// "paused by X since T".
  public var text: String { "paused by \(role) since \(since.text)" }
}
