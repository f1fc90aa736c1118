/// What a participant keeps its data in.
public protocol WorkloadStore: AnyObject {
  func close() throws
}

/// Work that is measured. It returns a checksum of what was read, or the figure of a workload that has one.
public typealias Work = () throws -> Int

/// Does the work of the workloads in its own way.
public protocol Participant {
  associatedtype Store: WorkloadStore

  /// The name in the output.
  var name: String { get }

  /// - Parameters:
  ///   - path: where the files of the store belong.
  ///   - isNew: whether nothing is there yet; otherwise a former process has left them.
  func store(at path: String, kind: Plan.StoreKind, isNew: Bool) throws -> Store

  /// Prepares a workload, which is not measured.
  ///
  /// - Returns: the work; nil if the participant does not take part.
  func prepare(_ workload: Workload, _ store: Store) throws -> Work?
}

/// Runs the workloads that are asked for and prints a line of JSON for each.
public final class Runner<Side: Participant> {
  private let side: Side
  private let settings: Settings
  /// The data that the next workloads need, by the workload that has made them.
  private var stores: [Workload: Side.Store] = [:]

  public init(_ side: Side, _ settings: Settings) {
    self.side = side
    self.settings = settings
  }

  public func run() throws {
    for workload in Workload.allCases where settings.wants(workload) && settings.canRun(workload.plan) {
      try run(workload) { work in
        Report(participant: side.name).write(workload, try measured(work), settings.count)
      }
    }
    for store in stores.values { try store.close() }
  }

  private func run(_ workload: Workload, _ execute: (Work) throws -> Void) throws {
    let plan = workload.plan
    guard let store = try data(for: workload), let work = try side.prepare(workload, store) else { return }
    if plan.spoils { stores[plan.needs ?? workload] = nil }
    try execute(work)
    if Workload.allCases.contains(where: { $0.plan.needs == workload }) {
      try stores.updateValue(store, forKey: workload)?.close()
    } else if plan.spoils || plan.needs == nil {
      try store.close()
    }
  }

  /// - Returns: the store to work on; nil if the participant does not make the data.
  private func data(for workload: Workload) throws -> Side.Store? {
    let plan = workload.plan
    guard let needed = plan.needs else { return try open(workload, isNew: true) }
    if stores[needed] == nil, settings.isReopening { stores[needed] = try open(workload, isNew: false) }
    if stores[needed] == nil { try run(needed) { _ = try $0() } }
    return stores[needed]
  }

  private func open(_ workload: Workload, isNew: Bool) throws -> Side.Store {
    let path = settings.path("\(side.name)-\(workload.origin.rawValue)", isNew: isNew)
    return try side.store(at: path, kind: workload.plan.storeKind, isNew: isNew)
  }
}

/// Prints what was measured, one line of JSON for each workload.
public struct Report {
  private let participant: String

  public init(participant: String) { self.participant = participant }

  /// Runs a workload that has a program of its own.
  public static func run(
    _ workload: Workload, as participant: String, _ settings: Settings, _ work: Work
  ) throws {
    Report(participant: participant).write(workload, try measured(work), settings.count)
  }

  func write(_ workload: Workload, _ measurement: Measurement, _ count: Int) {
    let plan = workload.plan
    let heading = "\"participant\":\"\(participant)\",\"workload\":\"\(workload.rawValue)\""
    if plan.isFigure {
      print("{\(heading),\"value\":\(measurement.result)}")
    } else {
      print(
        """
        {\(heading),"items":\(plan.items(count)),"seconds":\(measurement.seconds),\
        "processorSeconds":\(measurement.processorSeconds),"checksum":\(measurement.result)}
        """)
    }
  }
}
