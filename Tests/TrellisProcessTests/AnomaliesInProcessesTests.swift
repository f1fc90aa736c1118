import Testing
import Trellis

/// The ten anomalies of the Hermitage suite with each transaction in a process of its own.
@Suite("What programs may see of each other") struct AnomaliesInProcessesTests {
  enum Anomaly: CaseIterable, Sendable {
    case dirtyWrite, abortedRead, intermediateRead, circularFlow, vanishingTransaction, predicateReadTwice
    case lostUpdate, readSkew, writeSkew, predicateWriteSkew
  }

  struct Case: Sendable, CustomTestStringConvertible {
    let anomaly: Anomaly
    let policy: MergePolicy
    let place: ToldPair.Place
    var testDescription: String { "\(anomaly), \(policy), \(place)" }
  }

  static let all = ToldPair.Place.separate.flatMap { place in
    MergePolicy.allCases.flatMap { policy in
      Anomaly.allCases.map { Case(anomaly: $0, policy: policy, place: place) }
    }
  }

  static func isLetThrough(_ anomaly: Anomaly, _ policy: MergePolicy) -> Bool {
    switch anomaly {
    case .dirtyWrite, .abortedRead, .intermediateRead, .circularFlow, .vanishingTransaction: false
    case .predicateReadTwice, .readSkew, .writeSkew, .predicateWriteSkew: true
    case .lostUpdate: policy != .error
    }
  }

  @Test("is as the table says", arguments: all) func anomaly(_ test: Case) throws {
    let run = try AnomalyRun(test.policy, test.place)
    #expect(try run.shows(test.anomaly) == Self.isLetThrough(test.anomaly, test.policy))
  }
}

private struct AnomalyRun {
  private let first: any ToldWriter
  private let second: any ToldWriter
  private let pair: ToldPair
  private let save: String

  init(_ policy: MergePolicy, _ place: ToldPair.Place) throws {
    pair = try ToldPair(place)
    (first, second, save) = (pair.first, pair.second, "save \(policy)")
  }

  /// Tells a writer some commands.
  ///
  /// - Returns: what the last one was answered.
  @discardableResult private func tell(_ writer: any ToldWriter, _ commands: String...) throws -> String {
    try commands.map(writer.tell).last ?? ""
  }

  /// The counters as the store has them.
  private func stored() throws -> String {
    try first.tell("stored").split(separator: ", ").dropFirst(6).joined(separator: ", ")
  }

  func shows(_ anomaly: AnomaliesInProcessesTests.Anomaly) throws -> Bool {
    switch anomaly {
    case .dirtyWrite:
      try tell(first, "set x 11", "set y 21")
      try tell(second, "set x 12", "set y 22")
      try tell(first, save)
      try tell(second, save)
      return try !["x 11, y 21", "x 12, y 22"].contains(stored())
    case .abortedRead:
      try tell(first, "set x 101")
      let before = try tell(second, "value x")
      try tell(first, "rollback")
      return try [before, tell(second, "value x")] != ["10", "10"]
    case .intermediateRead:
      try tell(first, "set x 101")
      let seen = try tell(second, "value x")
      try tell(first, "set x 11", save)
      return try seen != "10" || tell(second, "above 100") != "0"
    case .circularFlow:
      try tell(first, "set x 11")
      try tell(second, "set y 22")
      let seen = try [tell(first, "value y"), tell(second, "value x")]
      return try [tell(first, save), tell(second, save)] != ["done", "done"] || seen != ["20", "10"]
    case .vanishingTransaction:
      try tell(first, "set x 11", "set y 19", save)
      try tell(second, "refresh x", "refresh y")
      let seen = try [tell(second, "value x"), tell(second, "value y")]
      return try tell(second, "set x 12", "set y 18", save) != "done" || seen != ["11", "19"]
        || stored() != "x 12, y 18"
    default: return try showsRead(anomaly)
    }
  }

  private func showsRead(_ anomaly: AnomaliesInProcessesTests.Anomaly) throws -> Bool {
    switch anomaly {
    case .predicateReadTwice:
      let before = try tell(first, "above 25")
      try tell(second, "counter z 30", save)
      return try tell(first, "above 25") != before
    case .lostUpdate:
      try tell(first, "set x 11")
      try tell(second, "set x 15")
      try tell(first, save)
      return try tell(second, save) != "conflict"
    case .readSkew:
      let x = try tell(first, "value x")
      try tell(second, "set x 12", "set y 18", save)
      return try x == "10" && tell(first, "refresh y", "value y") == "18"
    case .writeSkew:
      // Each has seen the sum of both.
      try tell(first, "set x 0")
      try tell(second, "set y 0")
      try tell(first, save)
      try tell(second, save)
      return try stored() == "x 0, y 0"
    default:
      for (writer, name) in [(first, "a"), (second, "b")] where try tell(writer, "above 25") == "0" {
        try tell(writer, "counter \(name) 30")
      }
      try tell(first, save)
      try tell(second, save)
      return try tell(first, "above 25") == "2"
    }
  }
}
