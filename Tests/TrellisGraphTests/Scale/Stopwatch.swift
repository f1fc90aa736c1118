import Foundation

/// Times a step and tells how much memory the process has, for the tests of large graphs.
struct Stopwatch {
  private let title: String
  private let start = ContinuousClock.now

  init(_ title: String) { self.title = title }

  /// Runs a step and prints what it took.
  static func measure<Result>(_ title: String, _ body: () throws -> Result) rethrows -> Result {
    let watch = Stopwatch(title)
    defer { watch.stop() }
    return try body()
  }

  private func stop() {
    let time = (ContinuousClock.now - start).formatted(
      .units(allowed: [.milliseconds], fractionalPart: .show(length: 1)))
    print("scale: \(title): \(time), \(Self.residentMegabytes) MB")
  }

  /// Linux only; 0 elsewhere.
  private static var residentMegabytes: Int {
    guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return 0 }
    let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    return pages * 4096 / 1_000_000
  }
}
