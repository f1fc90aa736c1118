import TrellisModel
import TrellisStorage

/// A store under test, with helpers for filling and querying it, and the failures found so far.
final class Bench {
  let model: Model
  let store: any Store
  let connection: any StoreConnection
  private let limits: Set<StoreLimit>
  private let rule: String
  private(set) var failures: [ConformanceFailure] = []

  init(_ rule: String, _ limits: Set<StoreLimit>, _ make: (Model) throws -> any Store) throws {
    self.rule = rule
    self.limits = limits
    model = try Model(ConformanceModel.description)
    store = try make(model)
    connection = try store.connect()
  }

  // MARK: Checking

  func fail(_ message: String, line: Int) {
    failures.append(ConformanceFailure(rule: rule, message: message, place: line > 0 ? "(line \(line))" : ""))
  }

  func expect(_ condition: Bool, _ message: @autoclosure () -> String, line: Int = #line) {
    if !condition { fail(message(), line: line) }
  }

  func expect<Value: Equatable>(_ found: Value, is expected: Value, line: Int = #line) {
    if found != expected { fail("expected \(expected), found \(found)", line: line) }
  }

  /// Checks that the body throws a store's error with this code, or with any code if it is nil.
  func expectError(_ code: StoreError.Code?, line: Int = #line, _ body: () throws -> Void) {
    do {
      try body()
      fail("expected an error\(code.map { " with code \($0.rawValue)" } ?? "")", line: line)
    } catch let error as StoreError {
      if let code, error.code != code { fail("expected code \(code.rawValue), found: \(error)", line: line) }
    } catch {
      fail("expected a store's error, found: \(error)", line: line)
    }
  }

  /// Checks that the body throws a conflict for exactly these records.
  func expectConflict(_ records: [Record], line: Int = #line, _ body: () throws -> Void) {
    do {
      try body()
      fail("expected a conflict", line: line)
    } catch let conflict as SaveConflict {
      let expected = Set(records.map { SaveConflict.Row(entity: $0.entity.index, key: $0.storedKey) })
      expect(Set(conflict.rows), is: expected, line: line)
    } catch {
      fail("expected a conflict, found: \(error)", line: line)
    }
  }

  /// Checks that the body throws exactly these broken rules.
  func expectBroken(_ expected: ConstraintViolations, line: Int = #line, _ body: () throws -> Void) {
    do {
      try body()
      fail("expected broken rules", line: line)
    } catch let broken as ConstraintViolations {
      expect(Set(broken.counts), is: Set(expected.counts), line: line)
      expect(Set(broken.denials), is: Set(expected.denials), line: line)
    } catch {
      fail("expected broken rules, found: \(error)", line: line)
    }
  }

  // MARK: The model

  /// Whether the store can keep a value of an attribute.
  func canStore(_ value: StoredValue, _ entity: String, _ name: String) throws -> Bool {
    try property(self.entity(entity), name).attribute.map { limits.allow(value, of: $0.type) } ?? true
  }

  func entity(_ name: String) throws -> Entity {
    guard let entity = model.entity(named: name) else { throw BenchError("no entity \(name)") }
    return entity
  }

  func property(_ entity: Entity, _ name: String) throws -> Property {
    guard let property = entity.property(named: name) else { throw BenchError("no property \(entity.name).\(name)") }
    return property
  }

  func relationship(_ entity: String, _ name: String) throws -> RelationshipNumber {
    let entity = try self.entity(entity)
    return RelationshipNumber(entity: entity.index, property: try property(entity, name).index)
  }

  /// The join table of a relationship.
  func table(_ entity: String, _ name: String) throws -> Int {
    guard case .joinTable(let table, _) = try property(self.entity(entity), name).relationship?.home else {
      throw BenchError("\(entity).\(name) has no join table")
    }
    return table
  }
}

/// A mistake in a test case itself.
struct BenchError: Error {
  let message: String

  init(_ message: String) { self.message = message }
}
