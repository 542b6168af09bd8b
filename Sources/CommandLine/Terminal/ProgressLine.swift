import Synchronization

/// The terminal line that a progress bar occupies. Messages erase it first and redraw it afterwards.
enum ProgressLine {
  private static let shown = Atomic<Bool>(false)

  static let erase = "\r\u{1B}[K"

  static var isShown: Bool {
    get { shown.load(ordering: .relaxed) }
    set { shown.store(newValue, ordering: .relaxed) }
  }
}
