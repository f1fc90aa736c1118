/// What a rehearsal has found.
///
/// ```swift
/// let report = try MigrationRehearsal(of: .journal, history: "Journal.history").run()
/// #expect(report.findings.isEmpty, "\(report)")
/// ```
public struct RehearsalReport: Sendable {
  /// The migrations of one store.
  public struct Run: Sendable {
    /// How the migrations of a store went.
    public enum Outcome: String, Sendable {
      /// Nothing was lost, and no rule is broken.
      case fine
      /// Something was lost or breaks a rule, as the model announces.
      case announced
      /// There are findings.
      case findings
    }

    /// The version of the store; nil if its model was never released.
    public let version: Int?
    /// The store: `seed 1`, or the name of a file.
    public let store: String
    /// Whether the objects are random ones.
    public let isRandom: Bool
    /// The number of objects before.
    public internal(set) var objects = 0
    /// The number of objects after the jump to the newest model; nil if the store was refused.
    public internal(set) var objectsAfter: Int?
    /// The number of migrations on the way with each version in turn; nil if there is no other version, or if a version
    /// on the way refused the store.
    public internal(set) var steps: Int?
    /// How it went.
    public internal(set) var outcome = Outcome.fine
    /// The time of the jump to the newest model.
    public internal(set) var jumpTime = Duration.zero
    /// The time of all migrations on the way with each version in turn.
    public internal(set) var stepsTime = Duration.zero
  }

  /// A store, or a way of one, that was not rehearsed.
  public struct Omission: Hashable, Sendable, CustomStringConvertible {
    /// The version of the store; nil if it has none.
    public let version: Int?
    /// The store, or what was left out of it.
    public let subject: String
    /// The reason, as a sentence.
    public let reason: String

    init(_ version: Int?, _ subject: String, _ reason: String) {
      self.version = version
      self.subject = subject
      self.reason = reason
    }

    /// The store and the reason: `version 2, seed 1: The time was over.`
    public var description: String { (version.map { "version \($0), " } ?? "") + "\(subject): \(reason)" }
  }

  /// The migrations, by version and store.
  public internal(set) var runs: [Run] = []
  /// What the model does not announce. A release with findings should wait.
  public internal(set) var findings: [RehearsalFinding] = []
  /// What the model announces or consents to: removed properties, rules that stored values may break.
  public internal(set) var announced: [RehearsalFinding] = []
  /// What was not rehearsed.
  public internal(set) var omissions: [Omission] = []
}

extension RehearsalReport: CustomStringConvertible {
  /// The number of migrations, and a line for each finding with what to do, and for what was left out.
  public var description: String {
    let count = runs.reduce(0) { $0 + 1 + ($1.steps ?? 0) }
    var lines = ["\(runs.count) stores, \(count) migrations, \(findings.count) findings"]
    for finding in findings { lines += ["\(finding)", "  \(finding.advice)"] }
    lines += omissions.map { "left out: \($0)" }
    return lines.joined(separator: "\n")
  }
}

extension RehearsalReport.Run: CustomStringConvertible {
  /// The store and the outcome: `version 2, seed 1: fine`.
  public var description: String { (version.map { "version \($0), " } ?? "") + "\(store): \(outcome)" }
}

extension RehearsalFinding.Code: CustomStringConvertible {
  /// The text of the code.
  public var description: String { rawValue }
}
