import Foundation
import Testing
import Trellis

/// The ten anomalies of the Hermitage suite: what transactions that run at once may do to each other.
///
/// A transaction here is what a context does between two saves: it reads objects, changes them and saves. The table says what
/// each policy lets through.
@Suite("What writers may see of each other") struct AnomalyTests {
  enum Anomaly: CaseIterable, Sendable {
    case dirtyWrite, abortedRead, intermediateRead, circularFlow, vanishingTransaction, predicateReadTwice
    case lostUpdate, readSkew, writeSkew, predicateWriteSkew
  }

  struct Case: CustomTestStringConvertible, Sendable {
    let anomaly: Anomaly
    let policy: MergePolicy
    let place: WriterPair.Place
    var testDescription: String { "\(anomaly), \(policy), \(place.testDescription)" }
  }

  static let all = WriterPair.Place.allCases.flatMap { place in
    MergePolicy.allCases.flatMap { policy in
      Anomaly.allCases.map { Case(anomaly: $0, policy: policy, place: place) }
    }
  }

  /// What gets through. Reads are of the moment at which they are made, and writes are judged row by row.
  static func isLetThrough(_ anomaly: Anomaly, _ policy: MergePolicy) -> Bool {
    switch anomaly {
    case .dirtyWrite, .abortedRead, .intermediateRead, .circularFlow, .vanishingTransaction: false
    case .predicateReadTwice, .readSkew, .writeSkew, .predicateWriteSkew: true
    // Under store trump and rollback it is the later one that gives up what it wrote.
    case .lostUpdate: policy != .error
    }
  }

  @Test("is as the table says", arguments: all) func anomaly(_ test: Case) throws {
    let pair = try WriterPair(test.place)
    pair.first.mergePolicy = test.policy
    pair.second.mergePolicy = test.policy
    let world = World(pair)
    #expect(try world.shows(test.anomaly) == Self.isLetThrough(test.anomaly, test.policy))
  }
}

private struct World {
  let pair: WriterPair

  init(_ pair: WriterPair) { self.pair = pair }

  private func counters(_ context: ManagedObjectContext) throws -> [Counter] {
    try context.fetch(Counter.all.sorted { $0.name.ascending })
  }

  private func stored() throws -> [Int64] { try pair.stored(Counter.all.sorted { $0.name.ascending }).map(\.value) }

  /// Two counters that both contexts have read: 10 and 20.
  private func begin() throws -> (first: [Counter], second: [Counter]) {
    _ = Counter(in: pair.first, name: "x", value: 10)
    _ = Counter(in: pair.first, name: "y", value: 20)
    try pair.first.save()
    return (try counters(pair.first), try counters(pair.second))
  }

  func shows(_ anomaly: AnomalyTests.Anomaly) throws -> Bool {
    let (first, second) = try begin()
    switch anomaly {
    case .dirtyWrite:
      // Each writes both; a mixture of the two may not remain.
      (first[0].value, first[1].value) = (11, 21)
      (second[0].value, second[1].value) = (12, 22)
      try pair.first.save()
      try? pair.second.save()
      return try ![[11, 21], [12, 22]].contains(stored())
    case .abortedRead:
      first[0].value = 101
      let isSeen = try counters(pair.second).map(\.value) != [10, 20]
      pair.first.rollback()
      return try isSeen || counters(pair.second).map(\.value) != [10, 20]
    case .intermediateRead:
      first[0].value = 101
      let isSeen = try counters(pair.second)[0].value == 101
      first[0].value = 11
      try pair.first.save()
      return try isSeen || pair.stored(Counter.where { $0.value == 101 }).count > 0
    case .circularFlow:
      first[0].value = 11
      second[1].value = 22
      let seen = try (counters(pair.first)[1].value, counters(pair.second)[0].value)
      try pair.first.save()
      try pair.second.save()
      return seen != (20, 10)
    case .vanishingTransaction:
      // Whoever has seen a part of a save sees all of it from then on.
      (first[0].value, first[1].value) = (11, 19)
      try pair.first.save()
      let reader = try pair.stored(Counter.all.sorted { $0.name.ascending })
      try pair.second.refresh(second[0])
      try pair.second.refresh(second[1])
      second[0].value = 12
      second[1].value = 18
      let seen = reader.map(\.value)
      try pair.second.save()
      return seen != [11, 19] || reader.map(\.value) != [11, 19]
    case .predicateReadTwice:
      let before = try pair.first.count(Counter.where { $0.value > 25 })
      _ = Counter(in: pair.second, name: "z", value: 30)
      try pair.second.save()
      return try pair.first.count(Counter.where { $0.value > 25 }) != before
    case .lostUpdate:
      first[0].value += 1
      second[0].value += 5
      try pair.first.save()
      do { try pair.second.save() } catch is SaveConflict { return false }
      return try stored()[0] != 16
    case .readSkew:
      // The first has seen x only; y comes from after the other's save.
      (second[0].value, second[1].value) = (12, 18)
      let x = first[0].value
      try pair.second.save()
      try pair.first.refresh(first[1])
      return x == 10 && first[1].value == 18
    case .writeSkew:
      // Each looks at both and writes one.
      if first[0].value + first[1].value == 30 { first[0].value = 0 }
      if second[0].value + second[1].value == 30 { second[1].value = 0 }
      try pair.first.save()
      try pair.second.save()
      return try stored() == [0, 0]
    case .predicateWriteSkew:
      for (context, name) in [(pair.first, "a"), (pair.second, "b")]
      where try context.count(Counter.where { $0.value > 25 }) == 0 {
        _ = Counter(in: context, name: name, value: 30)
      }
      try pair.first.save()
      try pair.second.save()
      return try pair.stored(Counter.where { $0.value > 25 }).count == 2
    }
  }
}
