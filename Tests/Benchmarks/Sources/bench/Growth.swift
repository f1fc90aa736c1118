/// What an item costs in small and large amounts of data.
struct Growth {
  let results: [(count: Int, results: Results)]

  func print() {
    Swift.print("nanoseconds for an item, and how the cost grows from the smallest number of diaries to the largest")
    let counts = results.map { "\($0.count)" }
    let columns = ["sqlite", "trellis", "grdb"].flatMap { name in counts.map { "\(name) \($0)" } + ["growth"] }
    Swift.print(label("workload", width: 20) + columns.map { cell($0, width: 16) }.joined())
    for workload in workloads {
      let cells = ["sqlite", "trellis", "grdb"].map { row(workload, $0) }
      Swift.print(label(workload, width: 20) + cells.joined())
    }
  }

  /// Those that have to do with the number of diaries.
  private var workloads: [String] {
    let all = results.last?.results.workloads ?? []
    return all.filter { workload in
      workload != Round.firstFetch && results.allSatisfy { $0.results.isTime(workload) }
    }
  }

  private func row(_ workload: String, _ participant: String) -> String {
    let costs = results.map { $0.results.nanosecondsPerItem(workload, participant) }
    let growth = costs.last.flatMap { $0 }.flatMap { last in costs.first.flatMap { $0 }.map { last / $0 } }
    return costs.map { cell($0, digits: 0, width: 16) }.joined() + cell(growth, digits: 2, width: 16)
  }
}
