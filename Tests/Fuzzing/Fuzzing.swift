import Glibc

/// The entry of libFuzzer that leaves `main` to its caller. libFuzzer has no header for it.
@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
  _ count: UnsafeMutablePointer<Int32>,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
  _ body: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32
) -> Int32

/// The program: `quake-fuzz targets`, `quake-fuzz fuzz TARGET FOLDER OPTION...`, `quake-fuzz repeat TARGET FILE...`.
///
/// What follows the target goes to libFuzzer. `fuzz` first writes the target's seeds and dictionary into the folder.
enum Fuzzing {
  private static let arguments = CommandLine.arguments
  private static let target = FuzzTarget.all.first {
    arguments.count > 2 && $0.name == arguments[2]
  }

  /// - Returns: The exit status.
  static func run() -> Int32 {
    switch (arguments.dropFirst().first, target) {
    case ("targets", _):
      print(FuzzTarget.all.map(\.name).joined(separator: "\n"))
      return 0
    case ("fuzz", let target?) where arguments.count > 3:
      let folder = arguments[3]
      let corpus = "\(folder)/corpus"
      let dictionary = "\(folder)/words.dict"
      for path in [folder, corpus, "\(folder)/seeds"] { mkdir(path, 0o755) }
      for (index, seed) in (target.seeds() + RealFeeds.seeds(for: target)).enumerated() {
        write(Array(seed.prefix(target.longest)), to: "\(folder)/seeds/\(index)")
      }
      write(Array(target.dictionary.utf8), to: dictionary)
      // libFuzzer refuses a dictionary without words.
      let words = target.words.isEmpty ? [] : ["-dict=\(dictionary)"]
      return drive(
        ["-max_len=\(target.longest)"] + words + arguments.dropFirst(4)
          + [corpus, "\(folder)/seeds"])
    case ("repeat", _?) where arguments.count > 3:
      return drive(Array(arguments.dropFirst(3)))
    default:
      print("usage: quake-fuzz targets | fuzz TARGET FOLDER OPTION... | repeat TARGET FILE...")
      return 64
    }
  }

  private static func drive(_ options: [String]) -> Int32 {
    var count = Int32(options.count + 1)
    // libFuzzer keeps the pointers, so they are never freed.
    var copies = ([arguments[0]] + options).map { strdup($0) } + [nil]
    return copies.withUnsafeMutableBufferPointer { copies -> Int32 in
      guard var start = copies.baseAddress else { return 70 }
      return runDriver(&count, &start) { bytes, count in
        Fuzzing.target?.check(Array(UnsafeBufferPointer(start: bytes, count: count)))
        return 0
      }
    }
  }

  private static func write(_ bytes: [UInt8], to path: String) {
    guard let file = fopen(path, "w") else { return perror(path) }
    fwrite(bytes, 1, bytes.count, file)
    fclose(file)
  }
}
