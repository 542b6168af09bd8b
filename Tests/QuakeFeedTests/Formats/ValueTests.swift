import QuakeModel
import Testing

@testable import QuakeFeed

/// What is the same in all formats: unknown values, longitudes beyond 180 degrees, types and deletions.
@Suite struct ValueTests {
  /// An event in one of the formats.
  private struct Document {
    var magnitude = "1"
    var longitude = "2"
    var depth = "3"
    var type = "earthquake"
    var status = "automatic"

    var geoJSON: String {
      collection(
        feature(
          coordinates: "[\(longitude),1,\(depth)]",
          #""mag":\#(magnitude),"type":"\#(type)","status":"\#(status)""#))
    }

    var csv: String {
      "id,time,latitude,longitude,depth,mag,type,status\n"
        + "us1,2024-01-01,1,\(longitude),\(depth),\(magnitude),\(type),\(status)\n"
    }

    var text: String {
      FDSNTextTests.header + "|EventType\n"
        + "1|2024-01-01|1|\(longitude)|\(depth)||||||\(magnitude)|||\(type)\n"
    }

    var quakeML: String {
      let kilometres = depth == "NaN" ? depth : depth + "000"
      return """
        <q:quakeml xmlns="http://quakeml.org/xmlns/bed/1.2" xmlns:q="http://quakeml.org/xmlns/quakeml/1.2">
        <eventParameters publicID="smi:a.b/c"><event publicID="smi:eu.emsc/event/1"><type>\(type)</type>
        <origin publicID="smi:a.b/o"><time><value>2024-01-01T00:00:00Z</value></time>
        <longitude><value>\(longitude)</value></longitude><latitude><value>1</value></latitude>
        <depth><value>\(kilometres)</value></depth>
        <evaluationStatus>\(status)</evaluationStatus></origin>
        <magnitude publicID="smi:a.b/m"><mag><value>\(magnitude)</value></mag></magnitude>
        </event></eventParameters></q:quakeml>
        """
    }

    var seisComP: String {
      """
      <seiscomp xmlns="http://geofon.gfz-potsdam.de/ns/seiscomp3-schema/0.11"><EventParameters>
      <origin publicID="o"><time><value>2024-01-01T00:00:00Z</value></time>
      <longitude><value>\(longitude)</value></longitude><latitude><value>1</value></latitude>
      <depth><value>\(depth)</value></depth><evaluationStatus>\(status)</evaluationStatus>
      <magnitude publicID="m"><magnitude><value>\(magnitude)</value></magnitude></magnitude></origin>
      <event publicID="1"><type>\(type)</type><preferredOriginID>o</preferredOriginID>
      <preferredMagnitudeID>m</preferredMagnitudeID></event></EventParameters></seiscomp>
      """
    }

    var emsc: String {
      collection(
        #"{"type":"Feature","geometry":{"type":"Point","coordinates":[\#(longitude),1]},"#
          + #""properties":{"unid":"1","time":"2024-01-01","depth":\#(depth),"#
          + #""mag":\#(magnitude),"evtype":"\#(type)"}}"#)
    }

    var geoNet: String {
      collection(
        #"{"type":"Feature","geometry":{"type":"Point","coordinates":[\#(longitude),1]},"#
          + #""properties":{"publicID":"1","time":"2024-01-01","depth":\#(depth),"#
          + #""magnitude":\#(magnitude),"quality":"\#(status)"}}"#)
    }

    var line: String {
      #"{"code":"us1","time":"2024-01-01","latitude":1,"longitude":\#(longitude),"depth":\#(depth),"#
        + #""magnitude":\#(magnitude),"type":"\#(type)","status":"\#(status)"}"# + "\n"
    }

    var all: [String] { [geoJSON, csv, text, quakeML, seisComP, emsc, geoNet, line] }
    var withTypes: [String] { [geoJSON, csv, text, quakeML, seisComP, emsc, line] }
    var withStatuses: [String] { [geoJSON, csv, geoNet, line] }
  }

  private func record(_ text: String) throws -> EventRecord {
    var options = FeedReader.Options()
    options.service = .emsc
    let contents = try FeedContents(text, options: options)
    #expect(contents.rejects.isEmpty, "\(contents.rejects.first?.reason ?? ""): \(text)")
    return try #require(contents.records.first)
  }

  @Test(arguments: ["-5.1", "-9", "-9.99", "-999", "NaN"])
  func aMagnitudeThatNoEventHasIsUnknown(magnitude: String) throws {
    for text in Document(magnitude: magnitude).all {
      #expect(!(try record(text).has(.magnitude)), "\(text)")
    }
  }

  @Test func smallMagnitudesAreKept() throws {
    for text in Document(magnitude: "-5").all {
      #expect(try record(text).double(.magnitude) == -5, "\(text)")
    }
  }

  @Test(arguments: [
    ("180", 180.0), ("180.1", -179.9), ("190.1234", -169.8766), ("359.999", -0.001), ("360", 0),
    ("-180", -180),
  ])
  func longitudesOf180To360AreConverted(longitude: String, converted: Double) throws {
    for text in Document(longitude: longitude).all {
      #expect(try record(text).double(.longitude) == converted, "\(text)")
    }
  }

  @Test func aDepthThatIsNotANumberIsUnknown() throws {
    for text in Document(depth: "NaN").all {
      #expect(!(try record(text).has(.depth)), "\(text)")
    }
  }

  @Test func aStringKeepsItsNaN() throws {
    let text = collection(feature(#""place":"NaN \"NaN, Laos","mag":NaN"#))
    #expect(try record(text).text(.place) == "NaN \"NaN, Laos")
  }

  @Test func negativeValuesThatCannotBeNegativeAreUnknown() throws {
    let columns: [EventColumn] = [
      .felt, .cdi, .mmi, .tsunami, .sig, .nst, .dmin, .rms, .gap,
    ]
    let text = collection(
      feature(
        #""felt":-1,"cdi":-1,"mmi":-1,"tsunami":-1,"sig":-9,"nst":-1,"dmin":-1.5,"rms":-1,"gap":-1"#
      ))
    let unknown = try record(text)
    for column in columns { #expect(!unknown.has(column), "\(column)") }
    let zero = try record(
      text.replacing("-1.5", with: "0").replacing("-1", with: "0").replacing("-9", with: "0"))
    for column in columns { #expect(zero.has(column), "\(column)") }
    let csv = try record("id,time,latitude,longitude,nst,gap,dmin\nus1,2024-01-01,1,2,-1,-1,nan\n")
    for column in [EventColumn.nst, .gap, .dmin] { #expect(!csv.has(column), "\(column)") }
  }

  @Test func typesAreQuakeMLsWords() throws {
    for (written, stored) in [
      ("quarry_blast", "quarry blast"), ("quarry", "quarry blast"), ("Earthquake", "earthquake"),
      ("tremor pulse", "tremor pulse"),
    ] {
      for text in Document(type: written).withTypes {
        #expect(try record(text).text(.type) == stored, "\(text)")
      }
    }
  }

  @Test func aDeletionIsRecognisedInEveryFormat() throws {
    for text in Document().all { #expect(!(try record(text).isDeletion), "\(text)") }
    for type in ["not existing", "not_existing"] {
      for text in Document(type: type).withTypes {
        #expect(try record(text).isDeletion, "\(text)")
      }
    }
    for status in ["deleted", "DELETED"] {
      for text in Document(status: status).withStatuses {
        #expect(try record(text).isDeletion, "\(text)")
      }
    }
    let rejected = Document(status: "rejected")
    for text in [rejected.quakeML, rejected.seisComP] {
      #expect(try record(text).isDeletion, "\(text)")
    }
  }

  @Test func aDeletionNeedsNothingButItsCode() throws {
    let documents = [
      #"{"features":[{"properties":{"status":"deleted"},"id":"us1"}]}"#,
      #"{"features":[{"properties":{"publicID":"1","quality":"deleted"}}]}"#,
      "id,time,latitude,longitude,status\nus1,,,,deleted\n",
      FDSNTextTests.header + "|EventType\n1|||||||||||||not existing\n",
      """
      <q:quakeml xmlns="http://quakeml.org/xmlns/bed/1.2" xmlns:q="http://quakeml.org/xmlns/quakeml/1.2">
      <eventParameters publicID="smi:a.b/c"><event publicID="smi:eu.emsc/event/1"><type>not existing</type>
      </event></eventParameters></q:quakeml>
      """,
    ]
    for text in documents { #expect(try record(text).isDeletion, "\(text)") }
  }

  @Test func aLineOfAnExportTellsThatItsEventIsWithdrawnOrSuperseded() throws {
    for member in [#""withdrawn_at":"2024-01-02T00:00:00Z""#, #""superseded_by":"us2""#] {
      let line = #"{"code":"us1","time":"2024-01-01","latitude":1,"longitude":2,\#(member)}"#
      #expect(try record(line + "\n").isDeletion)
    }
  }

  /// A feed with an event in the last second of the year 9999, and one a second later.
  private static let feeds = [
    collection(
      feature(id: #""us1""#, time: "253402300799000"),
      feature(id: #""us2""#, time: "253402300800000")),
    """
    time,latitude,longitude,id,net
    9999-12-31T23:59:59Z,1,2,us1,us
    10000-01-01T00:00:00Z,1,2,us2,us

    """,
    """
    #EventID|Time|Latitude|Longitude|Depth/km|Author|Catalog|Contributor|ContributorID|MagType|Magnitude|MagAuthor|EventLocationName
    us1|9999-12-31T23:59:59|1|2|3|us|us|us|us1|ml|4|us|somewhere
    us2|10000-01-01T00:00:00|1|2|3|us|us|us|us2|ml|4|us|somewhere

    """,
  ]

  @Test(arguments: feeds)
  func aTimeAfterTheYear9999IsRejectedInEachFormat(feed: String) throws {
    var options = FeedReader.Options()
    options.centre = .usgs
    let contents = try FeedContents(feed, options: options)
    #expect(
      contents.records.map { $0.timestamp(.time)?.description } == ["9999-12-31T23:59:59.000Z"])
    #expect(contents.rejects.count == 1 && contents.rejects.first?.isOfTime == true)
  }
}
