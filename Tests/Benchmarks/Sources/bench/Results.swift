import Foundation
import Workload

/// All measurements of one number of diaries.
struct Results {
  private var seconds = Figures(), processorSeconds = Figures(), values = Figures()
  private var checksums: [Workload: [String: Set<Int>]] = [:]
  private var items: [Workload: Int] = [:]
  private let isProcessorTime: Bool

  /// - Parameter isProcessorTime: whether medians and spreads are those of the time that the processes have used of all processors,
  ///   instead of the time that has passed.
  init(isProcessorTime: Bool) { self.isProcessorTime = isProcessorTime }

  mutating func add(_ measurement: Measurement) {
    guard let workload = Workload(rawValue: measurement.workload) else { return }
    let participant = measurement.participant
    seconds.add(measurement.seconds, workload, participant)
    processorSeconds.add(measurement.processorSeconds, workload, participant)
    values.add(measurement.value, workload, participant)
    if let items = measurement.items { self.items[workload] = items }
    if let checksum = measurement.checksum {
      checksums[workload, default: [:]][participant, default: []].insert(checksum)
    }
  }

  /// Those that were measured, in their order.
  var workloads: [Workload] { Workload.allCases.filter { seconds.has($0) || values.has($0) } }

  /// The median, in seconds or as a figure of its own.
  func median(_ workload: Workload, _ participant: String) -> Double? {
    figures(workload).median(workload, participant)
  }

  /// How far the slowest lies above the fastest, in parts of the median.
  func spread(_ workload: Workload, _ participant: String) -> Double? {
    figures(workload).spread(workload, participant)
  }

  private func figures(_ workload: Workload) -> Figures {
    workload.plan.isFigure ? values : isProcessorTime ? processorSeconds : seconds
  }

  /// The median processor time for one item, in nanoseconds.
  func nanosecondsPerItem(_ workload: Workload, _ participant: String) -> Double? {
    guard let items = items[workload], items > 0 else { return nil }
    return processorSeconds.median(workload, participant).map { $0 / Double(items) * 1e9 }
  }

  /// How long the slowest participant took.
  func longest(_ workload: Workload) -> Double {
    Participant.all.compactMap { seconds.median(workload, $0.name) }.max() ?? 0
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

/// Figures of one kind, round by round.
private struct Figures {
  private var all: [Workload: [String: [Double]]] = [:]

  mutating func add(_ figure: Double?, _ workload: Workload, _ participant: String) {
    if let figure { all[workload, default: [:]][participant, default: []].append(figure) }
  }

  func has(_ workload: Workload) -> Bool { all[workload] != nil }

  func median(_ workload: Workload, _ participant: String) -> Double? {
    guard let sorted = all[workload]?[participant]?.sorted() else { return nil }
    let middle = sorted.count / 2
    return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
  }

  func spread(_ workload: Workload, _ participant: String) -> Double? {
    guard let values = all[workload]?[participant], let least = values.min(), let most = values.max() else {
      return nil
    }
    return median(workload, participant).map { (most - least) / $0 }
  }
}
