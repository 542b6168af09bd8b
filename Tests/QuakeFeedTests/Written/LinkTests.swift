import QuakeModel
import Testing

@testable import QuakeFormat

/// What leads a program that opens an export to something else than an event.
@Suite struct LinkTests {
  private static func document(
    _ event: EventRecord, _ format: ExportFormat, isForSpreadsheets: Bool = false
  ) -> String {
    var writer = format.makeWriter(isForSpreadsheets: isForSpreadsheets)
    writer.begin(DocumentHead(generated: .init(microseconds: 0), api: "1"))
    writer.event(event, revision: nil)
    writer.end()
    var text = ""
    writer.drain { text += String(decoding: $0, as: UTF8.self) }
    return text
  }

  private static func event(_ change: (inout EventRecord) -> Void) -> EventRecord {
    var event = EventRecord()
    event.set(.code, "us1")
    event.set(.place, "Somewhere")
    change(&event)
    return event
  }

  @Test(arguments: [
    ("https://a.example/1", true), ("HTTP://a.example/1", true), ("javascript:alert(1)", false),
    ("data:text/html,x", false), ("file:///etc/passwd", false), ("smi:local/1", false),
    (" https://a.example", false), ("https://", false), ("", false),
  ])
  func onlyAddressesOfTheWebAreLinks(url: String, isLink: Bool) {
    let event = Self.event { $0.set(.url, url) }
    for format in [ExportFormat.atom, .kml] {
      let text = Self.document(event, format)
      #expect(text.contains(isLink ? url : "href=\"") == isLink, "\(format): \(text)")
      if !isLink, !url.isEmpty { #expect(!text.contains(url), "\(format)") }
    }
  }

  @Test(arguments: [
    "=1+1", "+1", "-1", "@sum", "\t=1", " =1", "=HYPERLINK(\"x\")", "=a,b",
  ])
  func aSpreadsheetComputesNoText(text: String) {
    let event = Self.event {
      $0.set(.place, text)
      $0.set(.net, text)
      $0.longitude = -1.5
    }
    let quoted = "\"'" + text.replacing("\"", with: "\"\"") + "\""
    let csv = Self.document(event, .csv, isForSpreadsheets: true)
    #expect(csv.split(separator: quoted, omittingEmptySubsequences: false).count == 3, "\(csv)")
    #expect(csv.contains(",-1.5,"))
    #expect(!Self.document(event, .csv).contains("'"))
  }
}
