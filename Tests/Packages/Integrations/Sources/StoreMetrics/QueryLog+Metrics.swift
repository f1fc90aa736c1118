public import Metrics
public import Trellis

extension QueryLog {
  /// A log that measures the operations of a store: `trellis_operation_seconds`, and `trellis_operation_failures` of those
  /// that fail, both by kind and entity.
  ///
  /// - Parameter factory: Makes the metrics.
  public static func measuring(with factory: any MetricsFactory = MetricsSystem.factory) -> QueryLog {
    QueryLog { entry in
      var dimensions = [("kind", entry.kind.rawValue)]
      if let subject = entry.subject { dimensions.append(("subject", subject)) }
      let (seconds, attoseconds) = entry.duration.components
      Timer(label: "trellis_operation_seconds", dimensions: dimensions, factory: factory)
        .recordNanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
      guard let failure = entry.failure else { return }
      dimensions.append(("failure", failure))
      Counter(label: "trellis_operation_failures", dimensions: dimensions, factory: factory).increment()
    }
  }
}

extension ContainerFigures {
  /// Records what the pools of a container do at this moment. Call it as often as the monitor reads:
  ///
  /// ```swift
  /// for await _ in AsyncTimerSequence(interval: .seconds(10), clock: .continuous) { container.figures.record() }
  /// ```
  /// - Parameter factory: Makes the metrics.
  public func record(with factory: any MetricsFactory = MetricsSystem.factory) {
    let pools = [("workers", workers), ("connections", connections), ("replica", replicaConnections)]
    for case (let name, let pool?) in pools as [(String, PoolFigures?)] {
      let dimensions = [("pool", name)]
      let values = [
        ("in_use", pool.inUse), ("waiting", pool.waiting), ("limit", pool.limit), ("refusals", pool.refusals),
      ]
      for (label, value) in values {
        Gauge(label: "trellis_pool_\(label)", dimensions: dimensions, factory: factory).record(value)
      }
    }
  }
}
