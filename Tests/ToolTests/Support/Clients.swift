/// Programs from PyPI that read exports and from USGS's services: ObsPy, usgs-libcomcat, Home Assistant's client, GDAL,
/// pandas, feedparser.
enum Clients {
  /// The Python that has them; nil if they cannot be installed.
  static let python = InstalledProgram.path(from: "clients.sh", variable: "QUAKE_CLIENTS")

  static let isMissing = "could not install ObsPy, usgs-libcomcat and other clients from PyPI"
}
