import QuakeModel
import Testing

@Suite struct CatalogueCodeTests {
  @Test(arguments: [
    ("us7000pn9s", "usgs"), ("emsc:20240424_0000123", "emsc"), ("simus6000abav", "simulated"),
    ("simtx2026abcd", "simulated"), ("simple1", "usgs"), ("simus", "usgs"), ("sim", "usgs"),
    ("simUS6000abav", "usgs"), ("sim:us6000", "sim"), ("ingv:simus6000abav", "ingv"), ("", "usgs"),
  ])
  func aCodeTellsItsCatalogue(code: String, source: String) {
    var record = EventRecord()
    record.set(.code, code)
    record.set(.source, source)
    #expect(record.codeTellsSource)
    #expect(record.isSimulated == (source == "simulated"))
    record.set(.source, "another")
    #expect(!record.codeTellsSource && !record.isSimulated)
  }
}
