extension RouteTable {
  /// The routes of all services.
  convenience init(_ settings: QuakeServer.Settings, _ parts: ServerParts) throws {
    let drain = parts.drain
    let page = try PageService(
      settings.page, takesEdits: !settings.tokens.isEmpty, version: settings.version)
    let api = APIService(
      version: settings.version, embedded: settings.embedded, isStopping: { drain.hasBegun })
    let health = HealthService(
      writeMetrics: { parts.write(to: &$0) }, unreadiness: { parts.unreadiness })
    let routes =
      page.routes + api.routes + ChangeStreamService(parts.streams).routes
      + LiveFeedService(parts.streams).routes + FDSNService().routes + FeedService().routes
      + health.routes
    let openAPI = OpenAPIService(routes, version: settings.version)
    self.init(routes + openAPI.routes + page.assetRoutes)
  }
}
