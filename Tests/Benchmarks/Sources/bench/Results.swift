import Foundation

/// All measurements of one number of diaries.
struct Results {
  /// The workloads in the order in which they were first seen.
  private(set) var workloads: [String] = []
  private var figures: [String: [String: [Double]]] = [:]
  private var checksums: [String: [String: Set<Int>]] = [:]
  private var items: [String: Int] = [:]

  mutating func add(_ measurement: Measurement) {
    guard let figure = measurement.seconds ?? measurement.value else { return }
    let workload = measurement.workload
    if figures[workload] == nil { workloads.append(workload) }
    figures[workload, default: [:]][measurement.participant, default: []].append(figure)
    if let items = measurement.items { self.items[workload] = items }
    if let checksum = measurement.checksum {
      checksums[workload, default: [:]][measurement.participant, default: []].insert(checksum)
    }
  }

  /// Whether the workload is measured in seconds.
  func isTime(_ workload: String) -> Bool { checksums[workload] != nil }

  func median(_ workload: String, _ participant: String) -> Double? {
    guard let sorted = figures[workload]?[participant]?.sorted() else { return nil }
    let middle = sorted.count / 2
    return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
  }

  /// The median of what hand-written code needs.
  func floor(_ workload: String) -> Double? { median(workload, "sqlite") ?? median(workload, "plain") }

  /// How far the slowest lies above the fastest, in parts of the median.
  func spread(_ workload: String, _ participant: String) -> Double? {
    guard let values = figures[workload]?[participant], let least = values.min(), let most = values.max() else {
      return nil
    }
    return median(workload, participant).map { (most - least) / $0 }
  }

  /// The median time for one item, in nanoseconds.
  func nanosecondsPerItem(_ workload: String, _ participant: String) -> Double? {
    guard isTime(workload), let items = items[workload] else { return nil }
    return median(workload, participant).map { $0 / Double(items) * 1e9 }
  }

  /// One line for each workload in which participants have read different values.
  var differences: [String] {
    workloads.compactMap { workload in
      let sums = checksums[workload] ?? [:]
      guard Set(sums.values.joined()).count > 1 else { return nil }
      let list = sums.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value.sorted())" }
      return "checksums differ in \(workload): \(list.joined(separator: ", "))"
    }
  }
}
