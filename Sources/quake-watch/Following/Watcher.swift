/// Follows a source of changes until the watch is complete.
protocol Watcher: AnyObject {
  /// Watches until it is stopped, or the watch is complete.
  func run() throws
  /// To be called when the output has not moved for a while: the server must not wait for this process.
  func pauseWhileOutputStalls()
}
