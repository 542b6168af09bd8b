/// Dates as HTTP writes them: `Wed, 31 Jan 2024 12:34:56 GMT`.
public enum HTTPDate {
  private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]  // of 1970-01-01 on
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// The date of an instant from 1970 on, without its fraction of a second.
  public static func text(_ time: Timestamp) -> String {
    let iso = time.description.utf8
    func part(_ start: Int, _ count: Int) -> Substring {
      Substring(iso.dropFirst(start).prefix(count))
    }
    let day = days[Int(time.microseconds / 86_400_000_000 % 7)]
    let month = months[(Int(part(5, 2)) ?? 1) - 1]
    return "\(day), \(part(8, 2)) \(month) \(part(0, 4)) \(part(11, 8)) GMT"
  }

  /// The instant of a date in the form above; nil for anything else.
  public static func time(_ text: String) -> Timestamp? {
    let parts = text.split(separator: " ")
    guard parts.count == 6, parts[5] == "GMT", let month = months.firstIndex(of: String(parts[2]))
    else { return nil }
    let number = month + 1
    let iso = "\(parts[3])-\(number < 10 ? "0" : "")\(number)-\(parts[1])T\(parts[4])Z"
    return Timestamp(iso8601: iso)
  }
}
