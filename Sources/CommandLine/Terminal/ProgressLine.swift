import Synchronization

/// The one line of the terminal that a progress bar occupies, which messages must not run into.
enum ProgressLine {
  private static let shown = Atomic<Bool>(false)

  static let erase = "\r\u{1B}[K"

  static var isShown: Bool {
    get { shown.load(ordering: .relaxed) }
    set { shown.store(newValue, ordering: .relaxed) }
  }
}
