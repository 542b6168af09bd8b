/// The types that events usually have. The column `type` takes any other text as well.
public enum EventTypes {
  /// Those of QuakeML 1.2.
  public static let usual: [String] = [
    "earthquake", "quarry blast", "explosion", "ice quake", "other event", "mining explosion",
    "not reported", "not existing", "anthropogenic event", "collapse", "cavity collapse",
    "mine collapse", "building collapse", "accidental explosion", "chemical explosion",
    "controlled explosion", "experimental explosion", "industrial explosion", "road cut",
    "blasting levee", "nuclear explosion", "induced or triggered event", "rock burst",
    "reservoir loading", "fluid injection", "fluid extraction", "crash", "plane crash",
    "train crash", "boat crash", "atmospheric event", "sonic boom", "sonic blast", "acoustic noise",
    "thunder", "avalanche", "snow avalanche", "debris avalanche", "hydroacoustic event", "slide",
    "landslide", "rockslide", "meteorite", "volcanic eruption",
  ]
}
