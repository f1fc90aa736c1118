import CMeasure
import Foundation

/// Runs the workloads that are asked for and prints one JSON line for each.
public struct Report {
  private let participant: String
  private let settings: Settings

  public init(_ participant: String, _ settings: Settings) {
    self.participant = participant
    self.settings = settings
  }

  /// Runs one workload: prints its seconds, and the checksum of what was read.
  ///
  /// - Parameter buildsData: whether later workloads need what this one writes. Then it runs even if nobody asks for it.
  public func run<Problem: Error>(
    _ workload: String, items: Int, buildsData: Bool = false, _ body: () throws(Problem) -> Int
  ) throws(Problem) {
    guard settings.wants(workload) else {
      if buildsData { _ = try body() }
      return
    }
    let (seconds, sum) = try measured(body)
    let time = String(format: "%.6f", seconds)
    print(
      """
      {"participant":"\(participant)","workload":"\(workload)","items":\(items),"seconds":\(time),"checksum":\(sum)}
      """)
  }

  /// Prints a figure that is no time.
  public func figure(_ workload: String, _ value: Double) {
    let text = String(format: "%.3f", value)
    print("{\"participant\":\"\(participant)\",\"workload\":\"\(workload)\",\"value\":\(text)}")
  }

  /// Prints the most memory that the process ever had.
  public func peak(_ workload: String) {
    if settings.wants(workload) { figure(workload, Double(bench_peak_bytes()) / 1e6) }
  }

  /// Prints how many bytes each object takes: what malloc has handed out while they are held, less what it had before.
  ///
  /// - Parameters:
  ///   - warmUp: reads the same rows and holds nothing, so that the caches of SQLite are full before the first look.
  ///   - hold: reads the objects and hands them to the closure that it gets, which takes the second look.
  public func bytesPerObject(warmUp: () throws -> Void, hold: (_ isHeld: (Int) -> Void) throws -> Void) rethrows {
    guard settings.wants("bytesPerObject") else { return }
    try warmUp()
    let before = bench_bytes_in_use()
    try hold { figure("bytesPerObject", Double(bench_bytes_in_use() - before) / Double($0)) }
    peak("peakOfFetch")
  }
}
