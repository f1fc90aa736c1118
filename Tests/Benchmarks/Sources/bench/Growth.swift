import Workload

/// What an item costs in small and large amounts of data.
struct Growth {
  let results: [(count: Int, results: Results)]

  func print() {
    Swift.print(
      """
      \(Machine.description)
      nanoseconds of processor time for an item, and how the cost grows from the smallest number to the largest
      """)
    for participant in ["trellis", "sqlite", "grdb"] where has(participant) { print(participant) }
  }

  private func has(_ participant: String) -> Bool {
    results.contains { result in
      result.results.workloads.contains { result.results.median($0, participant) != nil }
    }
  }

  private func print(_ participant: String) {
    let counts = results.map { cell("\($0.count)", width: 12) }
    Swift.print("\n" + label(participant, width: 20) + counts.joined() + cell("growth", width: 12))
    for workload in results.first?.results.workloads ?? [] {
      let costs = results.map { $0.results.nanosecondsPerItem(workload, participant) }
      let known = costs.compactMap { $0 }
      guard known.count > 1, let first = known.first, let last = known.last else { continue }
      Swift.print(
        label(workload.rawValue, width: 20) + costs.map { cell($0, digits: 0, width: 12) }.joined()
          + cell(last / first, digits: 2, width: 12))
    }
  }

  /// Those that would take less than a minute with ten times the data of the last results.
  ///
  /// - Parameter results: of increasing numbers of diaries, each ten times the one before.
  static func affordable(_ workloads: [Workload], after results: [(count: Int, results: Results)]) -> [Workload] {
    guard let last = results.last?.results else { return workloads }
    let former = results.dropLast().last?.results
    return workloads.filter { workload in
      let seconds = last.longest(workload)
      // One that was too long for the last number is too long for this one.
      if seconds == 0 && !workload.plan.isFigure { return false }
      let growth = former.map { $0.longest(workload) }.map { $0 > 0 ? seconds / $0 : 10 } ?? 10
      return seconds * max(10, growth) < 60
    }
  }
}
