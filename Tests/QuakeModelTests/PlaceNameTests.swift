import TestSupport
import Testing

@Suite struct PlaceNameTests {
  @Test(arguments: [
    ("6 km SSW of Pāhala, Hawaii", "Pāhala, Hawaii", "Hawaii"),
    ("13km NW of Aguanga, CA", "Aguanga, CA", "CA"),
    ("1.5 KM N of Town", "Town", "Town"), ("3 mi ENE of A, B,  C", "A, B,  C", "C"),
    ("south of the Fiji Islands", "south of the Fiji Islands", "south of the Fiji Islands"),
    (" , Chile, ", "Chile", "Chile"), ("5 km NNNW of X, Y", "5 km NNNW of X, Y", "Y"),
    ("5. km N of X", "5. km N of X", "5. km N of X"), ("5 km N of", "5 km N of", "5 km N of"),
    ("5 km n of X", "5 km n of X", "5 km n of X"), ("5 km N of , X", ", X", "X"),
  ])
  func aPlaceHasALocalityAndARegion(place: String, locality: String, region: String) {
    #expect(PlaceName.locality(place) == locality)
    #expect(PlaceName.region(place) == region)
  }

  @Test(arguments: ["", "  ", ", ,"])
  func aPlaceHasNeitherIfItIsEmpty(place: String) {
    #expect(PlaceName.locality(place) == nil)
    #expect(PlaceName.region(place) == nil)
  }
}
