import CommandLine
import Glibc

/// The limit on open files of this process, which is the limit on clients.
enum DescriptorLimit {
  /// Descriptors that are not clients: connections to the database, documents, standard streams.
  private static let reserve: rlim_t = 256

  /// Raises the soft limit as far as `clients` need.
  ///
  /// - Returns: The most clients that there are descriptors for; a warning says so if they are fewer than
  ///   `needed`.
  static func raise(for clients: Int, needed: Int, _ diagnostics: Diagnostics) -> Int {
    var limit = rlimit()
    let which = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    guard getrlimit(which, &limit) == 0 else { return clients }
    let wanted = rlim_t(clients) + reserve
    guard limit.rlim_cur < wanted else { return clients }
    let hard = limit.rlim_max
    limit.rlim_cur = min(wanted, hard)
    guard setrlimit(which, &limit) == 0, hard < wanted else { return clients }
    let possible = Int(max(16, hard > reserve ? hard - reserve : hard / 2))
    guard possible < needed else { return possible }
    diagnostics.warning(
      "the limit on open files allows only \(possible) clients at once, not \(needed)",
      hint: "Raise it: LimitNOFILE= of the service, or \"ulimit -n\" before the start.")
    return possible
  }
}
