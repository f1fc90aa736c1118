public import Logging
public import Trellis

extension QueryLog {
  /// A log that writes to a logger of swift-log: requests that are slow or fail as warnings, openings and migrations as
  /// infos, all others at another level. It has no values of requests.
  ///
  /// - Parameters:
  ///   - logger: The logger.
  ///   - level: The level of requests that are neither slow nor fail.
  ///   - limit: How long a request takes to be slow.
  public static func writing(
    to logger: Logger, level: Logger.Level = .debug, slowerThan limit: Duration = .milliseconds(100)
  ) -> QueryLog {
    QueryLog { entry in
      let isOpening = entry.kind == .opening || entry.kind == .migration
      let isSlow = entry.duration > limit && !isOpening
      let level: Logger.Level = isSlow || entry.failure != nil ? .warning : isOpening ? .info : level
      guard level >= logger.logLevel else { return }
      var metadata: Logger.Metadata = ["duration": "\(entry.duration)", "rows": "\(entry.rows)"]
      if let failure = entry.failure { metadata["failure"] = "\(failure)" }
      if !entry.statements.isEmpty {
        metadata["statements"] = .array(entry.statements.map { .string($0.description) })
      }
      logger.log(level: level, "\(entry.kind.rawValue) \(entry.subject ?? "store")", metadata: metadata)
    }
  }
}

extension Logger {
  /// What a container calls for a problem where nothing can be thrown.
  public var writingProblems: @Sendable (ContextError) -> Void {
    { problem in
      error("\(problem.message)", metadata: ["code": "\(problem.code.rawValue)"])
    }
  }
}
