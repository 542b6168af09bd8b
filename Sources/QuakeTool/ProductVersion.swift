/// The version of all of Quake's programs, which are built together.
public let productVersion = "0.1.0"
