public import Foundation
public import TrellisModel
public import TrellisStorage

/// The rules that every store must obey, as test cases to run with your own store.
///
/// ```swift
/// @Test func conforms() {
///   #expect(StoreConformance { model in try MyStore(model) }.runAll() == [])
/// }
/// ```
/// No rule is optional: a type that does not obey all of them is not a store. A store whose database cannot keep certain
/// values says so by its limits, and obeys the rules of these.
public struct StoreConformance: Sendable {
  private let limits: Set<StoreLimit>
  private let make: @Sendable (Model) throws -> any Store

  /// - Parameters:
  ///   - limits: the values that the store cannot keep. Cases leave out exactly these.
  ///   - make: creates a new, empty store for a model. It is called for each case.
  public init(limits: Set<StoreLimit> = [], make: @escaping @Sendable (Model) throws -> any Store) {
    self.limits = limits
    self.make = make
  }

  /// All cases, in the order from simple to difficult.
  public static let cases: [ConformanceCase] = [
    RowCases.all, ValueCases.all, VersionCases.all, UniqueCases.all, ReferenceCases.all, MemberCases.all, PairCases.all,
    HierarchyCases.all, FetchCases.all, ValueReadingCases.all, GroupCases.all, PredicateCases.all, ExpressionCases.all,
    TextCases.all, SearchCases.all,
    AtomicityCases.all, RuleCases.all, CascadeCases.all, BatchOperationCases.all, ExternalCases.all,
  ].flatMap { $0 }

  /// The cases of a store with limits, beside ``cases``: it refuses what it cannot keep, and compares with it.
  public static func limitCases(_ limits: Set<StoreLimit>) -> [ConformanceCase] { LimitCases.all(of: limits) }

  /// Runs all cases, those of the limits, and random queries.
  ///
  /// - Parameter queries: the number of random queries, half of them with the seed 1 and half with a random seed.
  /// - Returns: the failures. Empty if the store conforms.
  public func runAll(queries: Int = 400) -> [ConformanceFailure] {
    (Self.cases + Self.limitCases(limits)).flatMap(run)
      + [1, UInt64.random(in: 2 ... .max)].flatMap { runDifferential(seed: $0, queries: queries / 2) }
  }

  /// Runs one case.
  ///
  /// - Returns: the failures. Empty if the store conforms.
  public func run(_ rule: ConformanceCase) -> [ConformanceFailure] {
    run(rule.name, rule.body)
  }

  /// Compares a store's results for random queries on random objects with those of the evaluation in memory.
  ///
  /// - Parameters:
  ///   - seed: the seed of the random numbers. The same seed creates the same queries. It is part of every failure.
  ///   - queries: the number of queries.
  public func runDifferential(seed: UInt64, queries: Int) -> [ConformanceFailure] {
    run("random queries, seed \(seed)") { bench in try DifferentialRun(bench, seed: seed).run(queries: queries) }
  }

  private func run(_ name: String, _ body: (Bench) throws -> Void) -> [ConformanceFailure] {
    do {
      let bench = try Bench(name, limits, make)
      do {
        try body(bench)
      } catch {
        bench.fail("an unexpected error: \(error)", line: 0)
      }
      return bench.failures
    } catch {
      return [ConformanceFailure(rule: name, message: "the store cannot be made: \(error)", place: "")]
    }
  }
}

/// One rule for stores, with its test.
public struct ConformanceCase: Sendable, CustomStringConvertible {
  /// The rule as a sentence.
  public let name: String
  let body: @Sendable (Bench) throws -> Void

  init(_ name: String, _ body: @escaping @Sendable (Bench) throws -> Void) {
    self.name = name
    self.body = body
  }

  public var description: String { name }
}

/// A deviation of a store from a rule.
public struct ConformanceFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The rule that the store breaks.
  public let rule: String
  /// What the store has done, and what it should do.
  public let message: String
  /// The file and line of the check.
  public let place: String

  public var description: String { "\(rule): \(message) \(place)" }
}

extension ConformanceFailure: LocalizedError {
  public var errorDescription: String? { description }
}
