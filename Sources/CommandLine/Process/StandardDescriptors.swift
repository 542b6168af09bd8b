import Glibc

/// Standard input, output and error, which the caller may have closed.
enum StandardDescriptors {
  /// Opens those that are closed. Otherwise the next file or connection would get the number of one of them, and
  /// what the program prints would go to the database.
  ///
  /// Reading standard input and writing to the others then fails, as with a closed descriptor.
  static func reserve() {
    for descriptor in Int32(0)...2 where fcntl(descriptor, F_GETFD) == -1 && errno == EBADF {
      // The lowest free number is this one. It stays open to the end.
      _ = open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY)
    }
  }
}
