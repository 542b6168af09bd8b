import QuakeModel
import Testing

@testable import QuakeFeed

@Suite struct DialectTests {
  private func emsc(_ properties: String, z: String = "-14.3") -> String {
    collection(
      #"{"type":"Feature","geometry":{"type":"Point","coordinates":[176.6425,-40.2363,\#(z)]},"#
        + #""id":"20240424_0000104","properties":{\#(properties)}}"#)
  }

  @Test func aFeatureOfEMSCIsRead() throws {
    let text = emsc(
      #"""
      "source_id":"1650753","source_catalog":"EMSC-RTS","lastupdate":"2024-04-24T09:00:05.651496Z",
      "time":"2024-04-24T08:58:01.51116Z","flynn_region":"NORTH ISLAND OF NEW ZEALAND",
      "lat":-40.2363,"lon":176.6425,"depth":14.3,"evtype":"ke","auth":"GNS","mag":3.2,
      "magtype":"m","unid":"20240424_0000104"
      """#)
    let contents = try FeedContents(text)
    #expect(contents.format == .emscJSON)
    #expect(
      contents.columns == [
        .code, .net, .netCode, .source, .type, .magnitude, .magnitudeType, .place, .time, .updated,
        .longitude, .latitude, .depth,
      ])
    #expect(
      contents.records.map(\.values) == [
        [
          "code=emsc:20240424_0000104", "net=GNS", "net_code=20240424_0000104", "source=emsc",
          "type=earthquake", "magnitude=3.2", "magnitude_type=m",
          "place=NORTH ISLAND OF NEW ZEALAND", "time=2024-04-24T08:58:01.511160Z",
          "updated=2024-04-24T09:00:05.651496Z", "longitude=176.6425", "latitude=-40.2363",
          "depth=14.3",
        ]
      ])
  }

  @Test func emscDepthFromTheThirdCoordinate() throws {
    for (z, depth) in [("-14.3", 14.3), ("2", -2.0), ("0", 0.0)] {
      let contents = try FeedContents(emsc(#""unid":"1","time":"2024-04-24""#, z: z))
      #expect(contents.records.first?.double(.depth) == depth)
      #expect(contents.records.first?.double(.depth)?.sign == (depth < 0 ? .minus : .plus))
    }
  }

  @Test(arguments: [
    ("ke", "earthquake"), ("se", "earthquake"), ("kx", "explosion"), ("sx", "explosion"),
    ("ls", "landslide"), ("kn", "nuclear explosion"), ("uk", "not reported"),
    ("other", "other event"), ("calving", "calving"),
  ])
  func eventTypesOfEMSCAreTranslated(code: String, type: String) throws {
    let text = emsc(#""unid":"1","time":"2024-04-24","evtype":"\#(code)""#)
    #expect(try FeedContents(text).records.first?.text(.type) == type)
  }

  @Test func invalidFeaturesOfEMSCAreRejected() throws {
    for (properties, reason) in [
      (#""unid":"1""#, "no time"), (#""unid":"","time":"2024-04-24""#, "code is empty"),
      (#""unid":null,"time":"2024-04-24""#, "no code"),
      (#""unid":"1","time":"yesterday""#, "time is not a date and time"),
      (#""unid":"1","time":5"#, "time is not a date and time as a string but 5"),
    ] {
      #expect(try FeedContents(emsc(properties)).rejects.first?.reason.contains(reason) == true)
    }
  }

  @Test func aFeatureOfGeoNetIsRead() throws {
    let point = #""geometry":{"type":"Point","coordinates":[178.2567291,-38.07928467]}"#
    let text = collection(
      #"""
      {"type":"Feature",\#(point),"properties":{"publicID":"2019p111111","depth":5.92,
      "time":"2019-07-24T18:00:00.000Z","magnitude":5.02,"mmi":5,"locality":"L","quality":"best"}}
      """#,
      #"{"type":"Feature",\#(point),"properties":{"publicID":"2019p333333","magnitude":5.9}}"#)
    let contents = try FeedContents(text)
    #expect(contents.format == .geonetJSON)
    #expect(
      contents.records.map(\.values) == [
        [
          "code=geonet:2019p111111", "net_code=2019p111111", "source=geonet", "status=best",
          "magnitude=5.02", "place=L", "time=2019-07-24T18:00:00.000Z", "longitude=178.2567291",
          "latitude=-38.07928467", "depth=5.92", "mmi=5.0",
        ]
      ])
    #expect(contents.rejects.map(\.reason) == ["The event has no time."])
    #expect(contents.rejects.first?.code == "geonet:2019p333333")
  }

  @Test func aBrokenFirstFeatureDoesNotHideTheDialect() throws {
    let text =
      #"{"features":[{"properties":{"unid":"1" "x"}},{"geometry":{"coordinates":[1,2]},"#
      + #""properties":{"unid":"2","time":"2024-04-24"}}]}"#
    let contents = try FeedContents(text)
    #expect(contents.format == .emscJSON)
    #expect(contents.records.first?.text(.code) == "emsc:2")
    #expect(contents.rejects.count == 1)
  }
}
