/// How soon a reader asks the server for what is new.
///
/// Where many watch, each commit wakes all of them, and all ask at once. If that is more than the
/// server can do, everybody falls further and further behind, and the writers with them. So a reader
/// that is answered late waits before it asks again, and gets several transactions at a time; and if
/// that does not help, it gives up the bell, which costs the server as much as a page does, and asks at
/// intervals for as long as changes keep coming. A server that answers at once is asked at once.
struct ReadingPace {
  private var best: Duration?
  private var wanted = Duration.zero
  private var lateAnswers = 0
  private var polls = 0

  /// Whether to do without the bell.
  private(set) var isCrowded = false

  /// For how long to leave the server alone now.
  var rest: Duration { isCrowded ? Self.longest : wanted < Self.shortest ? .zero : wanted }

  private static let shortest = Duration.milliseconds(5)
  private static let longest = Duration.milliseconds(150)
  private static let late = Duration.milliseconds(90)

  /// Takes in an answer.
  ///
  /// - Parameters:
  ///   - time: How long it took. What counts is how much longer that is than it can be, which leaves
  ///     out the way there and back.
  ///   - isEmpty: Whether there was nothing new.
  mutating func add(answerAfter time: Duration, isEmpty: Bool) {
    let best = min(best ?? time, time)
    self.best = best
    // One quick answer does not mean that the crowd is gone.
    wanted = min(max((time - best) * 3, wanted * 3 / 4), Self.longest)
    let isLate = wanted >= Self.late
    if isCrowded {
      polls += 1
      if isEmpty || polls >= Self.pollsBeforeBell && !isLate {
        isCrowded = false
        lateAnswers = 0
      }
    } else {
      lateAnswers = isLate && !isEmpty ? lateAnswers + 1 : 0
      if lateAnswers == Self.lateAnswersOfCrowd {
        isCrowded = true
        polls = 0
      }
    }
  }

  private static let lateAnswersOfCrowd = 3
  /// About five seconds.
  private static let pollsBeforeBell = 32
}
