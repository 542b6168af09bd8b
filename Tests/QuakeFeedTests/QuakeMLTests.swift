import Basics
import Foundation
import QuakeModel
import Testing

@testable import QuakeFeed

/// QuakeML and SeisComP's XML.
@Suite struct QuakeMLTests {
  private static func document(_ events: String, prefix: String = "") -> String {
    """
    <?xml version="1.0" encoding="UTF-8"?>
    <q:quakeml xmlns="http://quakeml.org/xmlns/bed/1.2" xmlns:q="http://quakeml.org/xmlns/quakeml/1.2"
      xmlns:catalog="http://anss.org/xmlns/catalog/0.1">
      <\(prefix)eventParameters publicID="smi:a.b/c">\(events)</\(prefix)eventParameters>
    </q:quakeml>
    """
  }

  private static func origin(
    _ id: String, time: String = "2024-01-01T00:00:00Z", depth: String = "8123.4"
  ) -> String {
    """
    <origin publicID="\(id)"><time><value>\(time)</value></time><longitude><value>1</value></longitude>
    <latitude><value>2</value></latitude><depth><value>\(depth)</value></depth></origin>
    """
  }

  private static func magnitude(_ id: String, _ value: String, origin: String = "") -> String {
    "<magnitude publicID=\"\(id)\"><mag><value>\(value)</value></mag><type>ml</type>"
      + "<originID>\(origin)</originID></magnitude>"
  }

  private func records(_ text: String, _ options: FeedReader.Options = .init()) throws
    -> [EventRecord]
  {
    let contents = try FeedContents(text, options: options)
    #expect(contents.rejects.isEmpty, "\(contents.rejects.first?.reason ?? "")")
    return contents.records
  }

  @Test func thePreferredOriginAndMagnitudeCount() throws {
    let parts =
      Self.origin("smi:a.b/o1", depth: "1000") + Self.origin("smi:a.b/o2", depth: "2000")
      + Self.magnitude("smi:a.b/m1", "1", origin: "smi:a.b/o1")
      + Self.magnitude("smi:a.b/m2", "2", origin: "smi:a.b/o2")
      + Self.magnitude("smi:a.b/m3", "3", origin: "smi:a.b/o2")
    for (preferred, depth, magnitude) in [
      (("o2", "m3"), 2, 3), (("o1", "m3"), 1, 3), (("o2", ""), 2, 2), (("", ""), 1, 1),
      (("unknown", "unknown"), 1, 1),
    ] as [((String, String), Double, Double)] {
      let references =
        (preferred.0.isEmpty
          ? "" : "<preferredOriginID>smi:a.b/\(preferred.0)</preferredOriginID>")
        + (preferred.1.isEmpty
          ? "" : "<preferredMagnitudeID> smi:a.b/\(preferred.1)\n</preferredMagnitudeID>")
      // They may stand before or behind what they refer to.
      for inside in [references + parts, parts + references] {
        let record = try #require(
          try records(Self.document("<event publicID=\"smi:eu.emsc/e/7\">\(inside)</event>")).first)
        #expect(record.double(.depth) == depth)
        #expect(record.double(.magnitude) == magnitude)
        #expect(record.text(.code) == "emsc:7")
        #expect(record.text(.netCode) == "7")
        #expect(record.text(.source) == "emsc")
      }
    }
  }

  @Test func anEventWithoutMagnitudeIsReadAndOneWithoutOriginRejected() throws {
    let text = Self.document(
      "<event publicID=\"smi:a.b/1\">\(Self.origin("smi:a.b/o"))</event><event publicID=\"smi:a.b/2\"/>"
    )
    let contents = try FeedContents(text)
    #expect(contents.records.map { $0.text(.code) } == ["a.b:1"])
    #expect(contents.records.first?.has(.magnitude) == false)
    #expect(contents.records.first?.double(.depth) == 8.1234)
    #expect(contents.rejects.map(\.code) == ["a.b:2"])
    #expect(
      contents.rejects.map(\.reason)
        == ["The event has no origin, so that its time and place are missing."])
    #expect(contents.rejects.first?.raw == "<event publicID=\"smi:a.b/2\"/>")
  }

  @Test func aRejectedEventIsKeptWholeHoweverItArrives() throws {
    let event = "<event publicID=\"smi:a.b/2\"><description><text>A</text></description></event>"
    // The beginning of a feed is read in one piece to recognise its format.
    let space = String(repeating: " ", count: 1100)
    let text = Self.document(space + event + "<event publicID=\"smi:a.b/3\" />")
    for pieceSize in [1, 7, 64, .max] {
      let contents = try FeedContents(BytesSource(Array(text.utf8), pieceSize: { pieceSize }))
      #expect(contents.rejects.map(\.raw) == [event, "<event publicID=\"smi:a.b/3\" />"])
    }
  }

  @Test(arguments: [
    ("quakeml:eu.emsc/event/20120404_0000041", "emsc:20120404_0000041"),
    ("smi:webservices.ingv.it/fdsnws/event/1/query?eventId=46128882", "ingv:46128882"),
    ("smi:ISC/evid=600516598", "isc:600516598"),
    ("smi:nz.org.geonet/2024p344188", "geonet:2024p344188"),
    ("smi:org.gfz-potsdam.de/geofon/gfz2024abcd", "gfz:gfz2024abcd"),
    (
      "quakeml:earthquake.usgs.gov/fdsnws/event/1/query?eventid=us7000pn9s&amp;format=quakeml",
      "us7000pn9s"
    ),
    ("quakeml:quake/event/us7000pn9s", "us7000pn9s"),
    ("quakeml:quake/event/emsc/20240424_1", "emsc:20240424_1"),
    ("quakeml:quake/event/a~20b~2Fc", "a b/c"),
    ("smi:ch.ethz.sed/sc99a/Event/2024abcdef", "sed:2024abcdef"),
    ("smi:a.b/catalogue/C202401010710A/event", "a.b:C202401010710A"),
    ("smi:a.b/catalogue/C202401010710A/Event/origin/", "a.b:C202401010710A"),
    ("smi:a.b/quake/eq/hypocenter/evid=7/earthquake", "a.b:7"),
    ("smi:a.b/events/eventful", "a.b:eventful"),
    ("smi:a.b/query?eventid=x/event&amp;format=xml", "a.b:x/event"),
  ])
  func theCodeIsThatOfTheCentresOtherFormats(publicID: String, code: String) throws {
    let text = Self.document("<event publicID=\"\(publicID)\">\(Self.origin("o"))</event>")
    #expect(try records(text).first?.text(.code) == code)
  }

  @Test func anIdentifierOfGenericPartsNamesNoEvent() throws {
    let text = Self.document(
      ["smi:a.b/event", "smi:a.b/event/origin/", "smi:a.b/x"]
        .map { "<event publicID=\"\($0)\">\(Self.origin("o"))</event>" }.joined())
    let contents = try FeedContents(text)
    #expect(contents.records.map { $0.text(.code) } == ["a.b:x"])
    #expect(
      contents.rejects.map(\.reason) == [
        "The identifier \"smi:a.b/event\" does not name the event.",
        "The identifier \"smi:a.b/event/origin/\" does not name the event.",
      ])
  }

  @Test func twoIdentifiersThatLeadToOneCodeAreAnErrorThatNamesBoth() throws {
    func events(_ identifiers: String...) -> String {
      Self.document(
        identifiers.map { "<event publicID=\"\($0)\">\(Self.origin("o"))</event>" }.joined())
    }
    var options = FeedReader.Options()
    options.centre = DataCentre(name: "mine")
    let error = try #require(
      failure(of: events("smi:a.b/x/1", "smi:a.b/y/2", "smi:a.b/y/1/event"), options: options))
    #expect(error.code == .ambiguousIdentifiers)
    #expect(error.category == .badData)
    #expect(error.detail?.contains("\"smi:a.b/x/1\" and \"smi:a.b/y/1/event\"") == true)
    #expect(error.detail?.contains("\"mine:1\"") == true)
    // The same event twice, also with other parameters, is one event.
    let again = [
      events("smi:a.b/x/1", "smi:a.b/x/2", "smi:a.b/x/1"),
      events("smi:a.b/q?eventid=1&amp;format=a", "smi:a.b/q?eventid=1&amp;format=b"),
    ]
    for text in again {
      #expect(try records(text, options).last?.text(.code) == "mine:1")
    }
  }

  @Test func anEventHasTheSameCodeInQuakeMLAndInText() throws {
    let id = "smi:ch.ethz.sed/sc99a/Event/2024abcdef"
    let xml = Self.document("<event publicID=\"\(id)\">\(Self.origin("o"))</event>")
    let header = FDSNTextTests.header
    func row(_ id: String) -> String { "\(id)|2024-01-01T00:00:00|2|1|8.1234||||||||\n" }
    let text = header + "\n" + row(id)
    var named = FeedReader.Options()
    named.centre = DataCentre(name: "swiss")
    var served = FeedReader.Options()
    served.service = DataCentre(name: "example.org")
    for (options, code) in [
      (FeedReader.Options(), "sed:2024abcdef"), (named, "swiss:2024abcdef"),
      (served, "sed:2024abcdef"),
    ] {
      for document in [xml, text] {
        let record = try #require(try records(document, options).first)
        #expect(record.text(.code) == code)
        #expect(record.text(.netCode) == "2024abcdef")
      }
    }
    let other = header + "\n" + row(id) + row("smi:ch.ethz.sed/sc20a/Event/2024abcdef")
    let error = try #require(failure(of: other))
    #expect(error.code == .ambiguousIdentifiers)
    #expect(error.detail?.contains("sc99a") == true && error.detail?.contains("sc20a") == true)
    #expect(failure(of: header + "\n" + row("7"))?.code == .unknownCentre)
  }

  @Test func aRejectedOriginIsNotTakenWhereTheAgencyPrefersNone() throws {
    func rejected(_ id: String) -> String {
      Self.origin(id, depth: "1000").replacingOccurrences(
        of: "</origin>", with: "<evaluationStatus>rejected</evaluationStatus></origin>")
    }
    let good = Self.origin("o2", depth: "2000")
    func event(_ parts: String) throws -> EventRecord {
      try #require(
        try records(Self.document("<event publicID=\"smi:a.b/1\">\(parts)</event>")).first)
    }
    let record = try event(rejected("o1") + good)
    #expect(record.double(.depth) == 2)
    #expect(!record.isDeletion)
    // The agency's preferred origin decides.
    let deleted = try event(
      "<preferredOriginID>o1</preferredOriginID>" + rejected("o1") + good)
    #expect(deleted.isDeletion)
    #expect(deleted.text(.status) == "rejected")
    #expect(try event(rejected("o1")).isDeletion)
  }

  @Test func theCatalogueAttributesAreTheCode() throws {
    let event =
      "<event catalog:datasource=\"ci\" catalog:eventsource=\"ci\" catalog:eventid=\"37285320\" "
      + "publicID=\"quakeml:comcat.cr.usgs.gov/x?eventid=other\">\(Self.origin("o"))</event>"
    let record = try #require(try records(Self.document(event)).first)
    #expect(record.text(.code) == "ci37285320")
    #expect(record.text(.source) == "usgs")
    #expect(record.text(.net) == "ci")
    #expect(record.text(.netCode) == "37285320")
    var options = FeedReader.Options()
    options.centre = DataCentre(name: "mine")
    #expect(try records(Self.document(event), options).first?.text(.code) == "mine:ci37285320")
  }

  @Test func elementsOfOtherNamespacesAreIgnored() throws {
    let event =
      "<b:event publicID=\"smi:a.b/1\"><x:type>no</x:type><b:type>quarry blast</b:type>"
      + "<b:origin publicID=\"o\"><b:time><b:value>2024-01-01T00:00:00Z</b:value></b:time>"
      + "<b:longitude><b:value>1</b:value></b:longitude><b:latitude><b:value>2</b:value>"
      + "<x:value>90</x:value></b:latitude></b:origin></b:event>"
    let record = try #require(try records(Self.document(event, prefix: "b:")).first)
    #expect(record.text(.type) == "quarry blast")
    #expect(record.double(.latitude) == 2)
  }

  @Test(arguments: [
    ("<!DOCTYPE q [<!ENTITY a \"ha\">]>", FeedError.Code.refusedXML),
    ("<!DOCTYPE q SYSTEM \"http://127.0.0.1:1/x.dtd\">", .refusedXML),
    (
      "<!DOCTYPE q [<!ENTITY a \"0123456789\"><!ENTITY b \"&a;&a;&a;&a;\"><!ENTITY c \"&b;&b;&b;\">]>",
      .refusedXML
    ),
    ("<!DOCTYPE q [<!ENTITY a SYSTEM \"file:///etc/passwd\">]>", .refusedXML),
  ])
  func declarationsOfEntitiesAreRefused(declaration: String, code: FeedError.Code) throws {
    let text =
      "<?xml version=\"1.0\"?>" + declaration
      + "<quakeml><eventParameters><event publicID=\"smi:a.b/&a;\"/></eventParameters></quakeml>"
    let error = try #require(failure(of: text))
    #expect(error.code == code)
    #expect(error.category == .badData)
  }

  @Test func entitiesThatAreNotDeclaredAreAnError() throws {
    let error = failure(of: Self.document("<event publicID=\"smi:a.b/&secret;\"/>"))
    #expect(error?.code == .invalidXML)
  }

  @Test func sizeAndNestingAreLimited() throws {
    let deep = String(repeating: "<a>", count: 100) + String(repeating: "</a>", count: 100)
    #expect(failure(of: Self.document(deep))?.code == .nestingTooDeep)
    let long = String(repeating: "x", count: 3 << 20)
    #expect(failure(of: Self.document("<event publicID=\"\(long)\"/>"))?.code == .featureTooLarge)
    let contents = try FeedContents(
      Self.document(
        "<event publicID=\"smi:a.b/1\"><description><text>\(long)</text></description>"
          + "\(Self.origin("o"))</event>"))
    #expect(contents.rejects.first?.reason.contains("place is too long") == true)
    let many = String(repeating: Self.magnitude("m", "1"), count: 10_001)
    let full = Self.document("<event publicID=\"smi:a.b/1\">\(many)</event>")
    #expect(failure(of: full)?.code == .featureTooLarge)
  }

  @Test func aDocumentThatEndsEarlyIsTruncated() throws {
    let text = Self.document("<event publicID=\"smi:a.b/1\">\(Self.origin("o"))</event>")
    for length in stride(from: 60, to: text.utf8.count, by: 7) {
      let cut = Array(text.utf8.prefix(length))
      let error = failure(of: BytesSource(cut, pieceSize: { 100 }))
      #expect(error?.code == .truncated, "\(length)")
    }
    #expect(failure(of: text + "<x/>")?.code == .trailingData)
  }

  // MARK: Real files

  @Test(.enabled(if: RealFeeds.folder != nil, "no real feeds in QUAKE_REAL_FEEDS"))
  func realDocumentsOfUSGSAndEMSC() throws {
    let usgs = try FeedContents(RealFeeds.source("usgs/usgs_quakeml.xml"))
    #expect(usgs.format == .quakeML)
    #expect(usgs.records.map { $0.text(.code) } == ["ci37285320", "uw60916552"])
    #expect(usgs.records.map { $0.double(.magnitude) } == [1.54, 1.6])
    #expect(usgs.records.map { $0.double(.depth) } == [0.01, 0])
    #expect(usgs.records.map { $0.text(.type) } == ["quarry blast", "quarry blast"])
    #expect(usgs.records.map { $0.integer(.nst) } == [25, nil])
    let emsc = try FeedContents(RealFeeds.source("other/emsc_neries_quakeml.xml"))
    #expect(emsc.records.count == 3)
    let first = try #require(emsc.records.first)
    #expect(first.text(.code) == "emsc:20120404_0000041")
    #expect(first.text(.place) == "KYRGYZSTAN")
    #expect(first.text(.type) == nil)
    #expect(first.double(.depth) == 1)
    #expect(first.double(.dmin) == 2.45)
    #expect(first.timestamp(.time)?.description == "2012-04-04T14:21:42.300Z")
  }

  /// ObsPy writes the events first.
  @Test func originsOfSeisComPMayFollowTheirEvents() throws {
    func event(_ id: Int, _ origin: String) -> String {
      """
      <event publicID="smi:eu.emsc/e/\(id)"><preferredOriginID>\(origin)</preferredOriginID>
      <originReference>\(origin)</originReference></event>
      """
    }
    let (before, after) = (Self.origin("o1", depth: "1"), Self.origin("o2", depth: "2"))
    let text = """
      <seiscomp xmlns="http://geofon.gfz-potsdam.de/ns/seiscomp3-schema/0.11" version="0.11">
      <EventParameters>\(before)\(event(2, "o2"))\(event(3, "o3"))\(event(1, "o1"))\(after)</EventParameters>
      </seiscomp>
      """
    let contents = try FeedContents(text)
    #expect(contents.records.compactMap { $0.text(.code) } == ["emsc:1", "emsc:2"])
    #expect(contents.records.map { $0.double(.depth) } == [1, 2])
    let reject = try #require(contents.rejects.first)
    #expect(reject.reason == "The document does not contain the event's origin.")
    #expect(reject.line == 4 && reject.raw.hasPrefix("<event publicID=\"smi:eu.emsc/e/3\">"))
  }

  @Test(.enabled(if: RealFeeds.folder != nil, "no real feeds in QUAKE_REAL_FEEDS"))
  func aRealDocumentOfSeisComP() throws {
    let file = "other/geonet_sc3ml_2024p344188.xml"
    #expect(try failure(of: RealFeeds.source(file))?.code == .unknownCentre)
    var options = FeedReader.Options()
    options.centre = .geonet
    let contents = try FeedContents(RealFeeds.source(file), options: options)
    #expect(contents.format == .seisComP)
    let record = try #require(contents.records.first)
    #expect(contents.records.count == 1)
    #expect(record.text(.code) == "geonet:2024p344188")
    #expect(record.text(.place) == "Taupo")
    #expect(record.text(.type) == "other event")
    #expect(record.double(.magnitude) == 1.4089917745797527)
    #expect(record.text(.magnitudeType) == "M")
    #expect(record.timestamp(.updated)?.description == "2024-05-07T22:58:22.379620Z")
    #expect(try #require(record.double(.depth)) < 700)
  }
}
