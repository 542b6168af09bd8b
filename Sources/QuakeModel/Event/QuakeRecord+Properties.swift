/// The values of an event as properties; nil: it has none, or the query that read the event left the column out.
extension QuakeRecord {
  /// The preferred id, unique in the store: `us7000pn9s`.
  public var code: String? {
    get { text(.code) }
    set { if let newValue { set(.code, newValue) } else { setNull(.code) } }
  }

  /// The network whose solution is preferred: `us`.
  public var network: String? {
    get { text(.net) }
    set { if let newValue { set(.net, newValue) } else { setNull(.net) } }
  }

  /// The network's own code of the event, which is not unique.
  public var networkCode: String? {
    get { text(.netCode) }
    set { if let newValue { set(.netCode, newValue) } else { setNull(.netCode) } }
  }

  /// The catalogue that the event comes from.
  public var source: String? {
    get { text(.source) }
    set { if let newValue { set(.source, newValue) } else { setNull(.source) } }
  }

  /// The event type: `earthquake`, `quarry blast`, ...
  public var type: String? {
    get { text(.type) }
    set { if let newValue { set(.type, newValue) } else { setNull(.type) } }
  }

  /// `automatic`, `reviewed`, ... in the feed's letters.
  public var status: String? {
    get { text(.status) }
    set { if let newValue { set(.status, newValue) } else { setNull(.status) } }
  }

  /// The magnitude; that of some events is unknown, and small ones are negative.
  public var magnitude: Double? {
    get { double(.magnitude) }
    set { if let newValue { set(.magnitude, newValue) } else { setNull(.magnitude) } }
  }

  /// The magnitude type: `mww`, `ml`, ...
  public var magnitudeType: String? {
    get { text(.magnitudeType) }
    set { if let newValue { set(.magnitudeType, newValue) } else { setNull(.magnitudeType) } }
  }

  /// The place in words.
  public var place: String? {
    get { text(.place) }
    set { if let newValue { set(.place, newValue) } else { setNull(.place) } }
  }

  /// The origin time.
  public var time: Timestamp? {
    get { timestamp(.time) }
    set { if let newValue { set(.time, newValue) } else { setNull(.time) } }
  }

  /// When the agency last changed the event, by its own account.
  public var updated: Timestamp? {
    get { timestamp(.updated) }
    set { if let newValue { set(.updated, newValue) } else { setNull(.updated) } }
  }

  /// The epicentre's longitude, degrees east, -180 to 180.
  public var longitude: Double? {
    get { double(.longitude) }
    set { if let newValue { set(.longitude, newValue) } else { setNull(.longitude) } }
  }

  /// The epicentre's latitude, degrees north, -90 to 90.
  public var latitude: Double? {
    get { double(.latitude) }
    set { if let newValue { set(.latitude, newValue) } else { setNull(.latitude) } }
  }

  /// The hypocentre depth, kilometres, positive down.
  public var depth: Double? {
    get { double(.depth) }
    set { if let newValue { set(.depth, newValue) } else { setNull(.depth) } }
  }

  /// Magnitude and place as the agency writes them.
  public var title: String? {
    get { text(.title) }
    set { if let newValue { set(.title, newValue) } else { setNull(.title) } }
  }

  /// The agency's page about the event.
  public var url: String? {
    get { text(.url) }
    set { if let newValue { set(.url, newValue) } else { setNull(.url) } }
  }

  /// The agency's document about the event.
  public var detail: String? {
    get { text(.detail) }
    set { if let newValue { set(.detail, newValue) } else { setNull(.detail) } }
  }

  /// How many people reported that they felt it.
  public var felt: Int? {
    get { integer(.felt) }
    set { if let newValue { set(.felt, integer: newValue) } else { setNull(.felt) } }
  }

  /// The largest intensity that people reported.
  public var cdi: Double? {
    get { double(.cdi) }
    set { if let newValue { set(.cdi, newValue) } else { setNull(.cdi) } }
  }

  /// The largest estimated intensity.
  public var mmi: Double? {
    get { double(.mmi) }
    set { if let newValue { set(.mmi, newValue) } else { setNull(.mmi) } }
  }

  /// The PAGER alert level: `green`, `yellow`, `orange`, `red`.
  public var alert: String? {
    get { text(.alert) }
    set { if let newValue { set(.alert, newValue) } else { setNull(.alert) } }
  }

  /// The significance as USGS computes it: 600 and more is "significant".
  public var significance: Int? {
    get { integer(.sig) }
    set { if let newValue { set(.sig, integer: newValue) } else { setNull(.sig) } }
  }

  /// The number of stations used.
  public var stationCount: Int? {
    get { integer(.nst) }
    set { if let newValue { set(.nst, integer: newValue) } else { setNull(.nst) } }
  }

  /// The distance of the nearest station, degrees.
  public var nearestStationDistance: Double? {
    get { double(.dmin) }
    set { if let newValue { set(.dmin, newValue) } else { setNull(.dmin) } }
  }

  /// The root mean square of the travel-time residuals, seconds.
  public var rms: Double? {
    get { double(.rms) }
    set { if let newValue { set(.rms, newValue) } else { setNull(.rms) } }
  }

  /// The largest angle without a station, degrees.
  public var azimuthalGap: Double? {
    get { double(.gap) }
    set { if let newValue { set(.gap, newValue) } else { setNull(.gap) } }
  }

  /// When the snapshot that last changed the event was generated.
  public var asOf: Timestamp? {
    get { timestamp(.asOf) }
    set { if let newValue { set(.asOf, newValue) } else { setNull(.asOf) } }
  }

  /// Whether a person has validated it in this store.
  public var isValidated: Bool? {
    get { bool(.validated) }
    set { if let newValue { set(.validated, newValue) } else { setNull(.validated) } }
  }

  /// Since when feeds that should hold the event lack it.
  public var withdrawnAt: Timestamp? {
    get { timestamp(.withdrawnAt) }
    set { if let newValue { set(.withdrawnAt, newValue) } else { setNull(.withdrawnAt) } }
  }

  /// The code of the event that replaces it.
  public var supersededBy: String? {
    get { text(.supersededBy) }
    set { if let newValue { set(.supersededBy, newValue) } else { setNull(.supersededBy) } }
  }

  /// When the event was first stored.
  public var firstStored: Timestamp? {
    get { timestamp(.firstStored) }
    set { if let newValue { set(.firstStored, newValue) } else { setNull(.firstStored) } }
  }

  /// Whether the agency's flag for large oceanic earthquakes is set. It does not announce a tsunami.
  public var hasTsunamiFlag: Bool? {
    get { integer(.tsunami).map { $0 != 0 } }
    set {
      if let newValue { set(.tsunami, integer: newValue ? 1 : 0) } else { setNull(.tsunami) }
    }
  }

  /// All ids of the event, the preferred one among them.
  public var ids: [String]? {
    get { list(.ids) }
    set { setList(.ids, newValue) }
  }

  /// The networks that contributed to the event.
  public var contributors: [String]? {
    get { list(.sources) }
    set { setList(.sources, newValue) }
  }

  /// The types of the products that the agency has about the event.
  public var productTypes: [String]? {
    get { list(.types) }
    set { setList(.types, newValue) }
  }

  /// A list as feeds write it: `,us7000pn9s,ci40000001,`.
  private func list(_ column: QuakeColumn) -> [String]? {
    text(column)?.split(separator: ",").map(String.init)
  }

  private mutating func setList(_ column: QuakeColumn, _ elements: [String]?) {
    guard let elements else { return setNull(column) }
    set(column, "," + elements.map { $0 + "," }.joined())
  }
}

extension QuakeRecord: Identifiable {
  /// The code; empty if the record has none.
  public var id: String { code ?? "" }
}
