import QuakeModel

/// Short feeds to begin with, written by hand in the dialects that the project reads and does not write.
enum FeedSamples {
  /// Events with what formats have difficulties with.
  static let events: [EventRecord] = {
    var first = EventRecord()
    first.set(.code, "us1")
    first.set(.source, "usgs")
    first.set(.net, "us")
    first.set(.netCode, "1")
    first.set(.time, Timestamp(microseconds: 1_700_000_000_123_000))
    first.set(.updated, Timestamp(microseconds: 1_700_000_600_000_000))
    first.set(.longitude, -155.25)
    first.set(.latitude, 19.4)
    first.set(.depth, 5.5)
    first.set(.magnitude, 4.5)
    first.set(.magnitudeType, "mww")
    first.set(.place, "5 km S of Pāhala, \"Hawaii\"")
    first.set(.type, "earthquake")
    first.set(.status, "reviewed")
    first.set(.felt, integer: 12)
    first.set(.ids, ",us1,hv2,")
    var second = EventRecord()
    second.set(.code, "local 2")
    second.set(.source, "local")
    second.set(.time, Timestamp(microseconds: -1_000_000))
    second.set(.longitude, 180)
    second.set(.latitude, -90)
    second.set(.place, "a|b,c<d>\n&")
    var third = EventRecord()
    third.set(.code, "us3")
    third.set(.source, "usgs")
    third.set(.status, "deleted")
    return [first, second, third]
  }()

  /// An event of USGS as there are many.
  static let usual: EventRecord = {
    var event = events[0]
    event.set(.code, "us7000abcd")
    event.set(.netCode, "7000abcd")
    event.set(.ids, ",us7000abcd,")
    return event
  }()

  static let json = [
    #"""
    {"type":"FeatureCollection","metadata":{"generated":1700000000000,"title":"x","status":200,"count":1},
    "features":[{"type":"Feature","properties":{"mag":1.5,"place":"A","time":1700000000000,"updated":null,
    "net":"us","code":"1","ids":",us1,","type":"quarry blast","tsunami":0},
    "geometry":{"type":"Point","coordinates":[190.1234,-1e1,null]},"id":"us1"},{},7],"bbox":[1,2]}
    """#,
    #"""
    {"type":"FeatureCollection","features":[{"type":"Feature","geometry":{"type":"Point",
    "coordinates":[176.6,-40.2,-14.3]},"id":"20240424_1","properties":{"source_catalog":"EMSC-RTS",
    "lastupdate":"2024-04-24T09:00:05.65Z","time":"2024-04-24T08:58:01.51116Z","flynn_region":"NEW ZEALAND",
    "depth":14.3,"evtype":"ke","auth":"GNS","mag":3.2,"magtype":"m","unid":"20240424_1"}}]}
    """#,
    #"""
    {"features":[{"geometry":{"coordinates":[174.7,-41.2]},"properties":{"publicID":"2024p1",
    "time":"2024-01-01T00:00:00.000Z","depth":33.5,"magnitude":2.1,"mmi":-1,"locality":"10 km",
    "quality":"best"}}],"type":"FeatureCollection"}
    """#,
    #"{"type":"Feature","id":"us1","properties":{"time":0,"code":"\ud83c\udf0b\u0041"},"geometry":null}"#,
  ]

  static let lines = [
    "{\"code\":\"us1\",\"time\":\"2026-01-31T12:00:00.000Z\",\"longitude\":1,\"latitude\":2,\"depth\":null}\n\n"
      + "{\"code\":\"us2\",\"time\":null,\"longitude\":1,\"latitude\":2,\"depth\":3,\"withdrawn_at\":\"2026-01-31\"}"
  ]

  static let csv = [
    "time,latitude,longitude,depth,mag,magType,nst,gap,dmin,rms,net,id,updated,place,type\r\n"
      + "2024-01-31T12:00:00.123Z,1,2,3,4,ml,5,6,7,8,us,us1,2024-01-31T12:00:00Z,\"A \"\"B\"\", C\",earthquake\r\n"
      + "2024-01-31 12:00:00,1,-181,,,,,,,,,x,,\"a\nb\",\n\n",
    "\u{FEFF}id,time,latitude,longitude\nus1,2024-01-31,1e1,0.0\n",
  ]

  static let text = [
    "#EventID | Time | Latitude | Longitude | Depth/km | Author | Catalog | Contributor | ContributorID | MagType"
      + " | Magnitude | MagAuthor | EventLocationName\n"
      + "smi:org.gfz-potsdam.de/geofon/gfz2024abcd|2024-01-31T12:00:00.12|1.5|2.5|10|GFZ|||gfz2024abcd|M|4.5||Alps\n"
      + "\n99|2024-01-31T12:00:00|1|2|||||||||\n",
    "eventid|time|latitude|longtitude|magnitude\n"
      + "quakeml:eu.emsc/event/20240131_1|2024-01-31T12:00:00|1|2|3.3\n",
    "#EventID|Time|Latitude|Longitude|Depth/km|Author|Catalog|Contributor|ContributorID|MagType"
      + "|Magnitude|MagAuthor|EventLocationName|EventType\n"
      + "us1|2023-12-14T22:13:20.123|19.4|-155.25|5.5|us|usgs|us|1|mww|4.5|| |earthquake\n"
      + "us2| |19.4|-155.25| |us|usgs|us|2||4.5|| |earthquake\n",
  ]

  static let xml = [
    #"""
    <?xml version="1.0" encoding="UTF-8"?><q:quakeml xmlns="http://quakeml.org/xmlns/bed/1.2"
    xmlns:q="http://quakeml.org/xmlns/quakeml/1.2"><eventParameters publicID="smi:a/b"><event
    publicID="quakeml:us.anss.org/event/us1" catalog:eventsource="us" catalog:eventid="1"
    xmlns:catalog="http://anss.org/xmlns/catalog/0.1"><description><text>A &amp; <![CDATA[<B>]]></text>
    <type>earthquake name</type></description><origin publicID="o"><time><value>2024-01-31T12:00:00Z</value>
    </time><longitude><value>1</value></longitude><latitude><value>2</value></latitude><depth><value>3000
    </value></depth><quality><usedStationCount>5</usedStationCount><azimuthalGap>10</azimuthalGap></quality>
    <evaluationMode>manual</evaluationMode></origin><magnitude publicID="m"><mag><value>4</value></mag>
    <type>ml</type><originID>o</originID></magnitude><preferredOriginID>o</preferredOriginID>
    <preferredMagnitudeID>m</preferredMagnitudeID><type>earthquake</type><creationInfo><agencyID>us</agencyID>
    <creationTime>2024-01-31T12:00:00</creationTime></creationInfo></event></eventParameters></q:quakeml>
    """#,
    #"""
    <seiscomp xmlns="http://geofon.gfz-potsdam.de/ns/seiscomp3-schema/0.11"><EventParameters><origin
    publicID="o"><time><value>2024-01-31T12:00:00Z</value></time><longitude><value>1</value></longitude>
    <latitude><value>2</value></latitude><magnitude publicID="m"><magnitude><value>4</value></magnitude>
    <type>M</type></magnitude></origin><event publicID="gfz2024abcd"><preferredOriginID>o</preferredOriginID>
    <preferredMagnitudeID>m</preferredMagnitudeID><originReference>o</originReference><creationInfo><agencyID>GFZ
    </agencyID></creationInfo></event></EventParameters></seiscomp>
    """#,
    #"<!-- x --><kml/>"#, #"<!DOCTYPE a [<!ENTITY b "c">]><quakeml/>"#,
  ]
}
