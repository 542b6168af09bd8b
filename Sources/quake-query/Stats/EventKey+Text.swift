import CommandLine
import QuakeQuery

extension EventKey {
  /// A value of the key as text: `2026-11-20`, `2026-11-20T07:00Z`, `2026-11`; `none` if there is none.
  func text(_ value: Value?) -> String {
    switch value {
    case nil: "none"
    case .text(let text): text
    case .number(let number): Readable.shortest(number)
    case .time(let time): text(of: time)
    }
  }
}
