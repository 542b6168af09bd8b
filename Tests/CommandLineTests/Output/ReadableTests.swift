import Testing

@testable import CommandLine

@Suite struct ReadableTests {
  @Test(arguments: [
    (0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567"), (-1_000, "-1,000"),
    (Int.min, "-9,223,372,036,854,775,808"),
  ])
  func aCountHasItsThousandsSeparated(number: Int, text: String) {
    #expect(Readable.count(number) == text)
  }

  @Test(arguments: [
    (0, "0 events"), (1, "1 event"), (2, "2 events"), (1_000, "1,000 events"), (-1, "-1 events"),
  ])
  func aCountedNounIsInThePluralUnlessThereIsOne(number: Int, text: String) {
    #expect(Readable.count(number, "event") == text)
    #expect(Readable.count(Int64(number), "event") == text)
  }

  @Test func theNounOfALongerPhraseIsInThePlural() {
    #expect(Readable.count(1, "version of an event") == "1 version of an event")
    #expect(Readable.count(2, "version of an event") == "2 versions of an event")
  }

  @Test(arguments: [
    (0, "0 B"), (1_023, "1023 B"), (1_024, "1.0 KiB"), (1_536, "1.5 KiB"), (20_480, "20 KiB"),
    (1_048_575, "1.0 MiB"), (1_048_576, "1.0 MiB"), (800_000_000, "763 MiB"),
    (Int.max, "8.0 EiB"),
  ])
  func bytesAreShownInReadableUnits(number: Int, text: String) {
    #expect(Readable.bytes(number) == text)
  }

  @Test(arguments: [
    (Duration.milliseconds(12), "12 ms"), (.milliseconds(3_450), "3.4 s"), (.seconds(42), "42 s"),
    (.seconds(303), "5m 03s"), (.seconds(7_500), "2h 05m"), (.seconds(273_600), "3d 04h"),
    (.seconds(-42), "-42 s"),
  ])
  func durationsAreShownInReadableUnits(duration: Duration, text: String) {
    #expect(Readable.duration(duration) == text)
  }

  @Test func decimalsAreRoundedAndNeverNegativeZero() {
    #expect(Readable.decimal(4.5) == "4.5")
    #expect(Readable.decimal(4.05, places: 2) == "4.05")
    #expect(Readable.decimal(-0.04) == "0.0")
    #expect(Readable.decimal(-1.25) == "-1.3")
    #expect(Readable.decimal(9.96, places: 0) == "10")
    #expect(Readable.decimal(1e20) == "1e+20")
    #expect(Readable.decimal(.nan) == "nan")
  }
}
