import Workload

/// The medians side by side.
struct Table {
  let results: Results
  let options: Options

  func print(count: Int) {
    Swift.print(heading(count))
    let columns = ["floor", "spread", "trellis", "spread", "÷floor", "grdb", "÷grdb", "bare", "memory"]
    Swift.print(label("workload", width: 20) + columns.map { cell($0, width: 10) }.joined())
    for workload in results.workloads { Swift.print(row(workload)) }
  }

  private func heading(_ count: Int) -> String {
    let durability = options.isDurable ? "synchronous FULL (durable)" : "synchronous NORMAL (relaxed)"
    return """
      \(Machine.description)
      N = \(count), \(options.rounds) rounds in turn; SQLite \(durability), WAL; smallSavesDurable: synchronous FULL
      medians; ms of \(options.isProcessorTime ? "processor" : "wall") time, MB for peak…, bytes for bytesPerObject
      """
  }

  private func row(_ workload: Workload) -> String {
    let floor = results.median(workload, "sqlite"), trellis = results.median(workload, "trellis")
    let grdb = results.median(workload, "grdb")
    return label(workload.rawValue, width: 20) + figure(floor, workload) + spread("sqlite", workload)
      + figure(trellis, workload) + spread("trellis", workload) + ratio(trellis, floor) + figure(grdb, workload)
      + ratio(trellis, grdb) + figure(results.median(workload, "sqlite-bare"), workload)
      + figure(results.median(workload, "trellis-memory"), workload)
  }

  private func figure(_ value: Double?, _ workload: Workload) -> String {
    let scale = workload.plan.isFigure ? 1 : 1_000.0
    return cell(value.map { $0 * scale }, digits: (value ?? 0) * scale < 20 ? 2 : 1, width: 10)
  }

  private func spread(_ participant: String, _ workload: Workload) -> String {
    cell(results.spread(workload, participant).map { $0 * 100 }, digits: 0, width: 10, suffix: "%")
  }

  private func ratio(_ value: Double?, _ other: Double?) -> String {
    guard let value, let other, other > 0 else { return cell(nil, digits: 0, width: 10) }
    return cell(value / other, digits: 2, width: 10)
  }
}
