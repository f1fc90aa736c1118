internal import CSQLite
import TrellisModel

/// Ensures that a file has exactly the marks, triggers and indexes of a model's stored derived attributes, and that
/// their values are current. The columns come with their tables.
struct DerivedOpening {
  let model: Model
  let options: OpenOptions
  let database: Database

  /// - Parameter isSameModel: whether the file was last written with exactly the same model.
  /// - Returns: the columns where changes must insert marks, and the columns that queries may use.
  func open(isSameModel: Bool) throws(StoreError) -> (marked: DerivedPlan, asked: DerivedPlan) {
    let plan = DerivedPlan(model)
    let none = DerivedPlan()
    // Most models have no such attribute, and most files never had one.
    if plan.isEmpty && isSameModel { return (none, none) }
    if options.isReadOnly { return (none, try isCurrent(plan) ? plan : none) }
    do throws(StoreError) {
      if try !isCurrent(plan) {
        try parts.update(to: plan.parts) { isNew throws(StoreError) in
          if isNew {
            for statement in plan.markAll { try database.execute(statement, doing: "compute derived values") }
          }
          if !plan.isEmpty { try compute(plan) }
        }
      }
    } catch {
      guard error.code == .full else { throw error }
      return (try parts.contain("_derivedMarks") ? plan : none, none)
    }
    return (plan, plan)
  }

  /// Whether ``open(isSameModel:)`` will write to the file.
  func writes(isSameModel: Bool) throws(StoreError) -> Bool {
    let plan = DerivedPlan(model)
    if plan.isEmpty && isSameModel { return false }
    return try !isCurrent(plan)
  }

  /// Creates the marks, triggers and indexes of a new file, inside the transaction that creates all tables.
  func create() throws(StoreError) -> DerivedPlan {
    let plan = DerivedPlan(model)
    try parts.create(plan.parts)
    return plan
  }

  /// Whether the file has the parts of a plan, and no row is marked.
  private func isCurrent(_ plan: DerivedPlan) throws(StoreError) -> Bool {
    guard try parts.areSame(as: plan.parts) else { return false }
    if plan.isEmpty { return true }
    return try database.text(DerivedPlan.findMarks) == nil
  }

  /// Computes the values of the marked rows, and deletes the marks.
  private func compute(_ plan: DerivedPlan) throws(StoreError) {
    let layout = SQLiteLayout(model)
    for group in plan.groups {
      let made = try group.computation(in: layout)
      try database.run(made, group.request(for: group.columns))
    }
    try database.execute(DerivedPlan.deleteMarks, doing: "compute derived values")
  }

  /// The marks of a file, the triggers that insert them, and the indexes.
  static func parts(of database: Database) -> FeatureParts {
    FeatureParts(database: database, question: DerivedPlan.present, purpose: "compute derived values")
  }

  private var parts: FeatureParts { Self.parts(of: database) }
}

extension Database {
  /// Makes the connection mark each row whose stored derived values its changes concern.
  func mark(_ plan: DerivedPlan) throws(StoreError) {
    for trigger in plan.triggersOfConnection { try execute(trigger, doing: "prepare the connection") }
  }

  /// Runs a statement once, with the values of the expressions in a request.
  fileprivate func run(
    _ made: (text: String, parameters: [Parameter]), _ request: BatchUpdate,
    _ body: (OpaquePointer) -> Void = { _ in }
  ) throws(StoreError) {
    let statement = try prepare(made.text, parameters: made.parameters)
    defer { _ = trellis_sqlite3_finalize(statement.pointer) }
    var shape = RequestShape()
    try shape.describe(request)
    try bind(shape.values, to: statement)
    while try step(statement.pointer, doing: "compute derived values") { body(statement.pointer) }
  }
}

extension SQLiteConnection {
  /// Computes the values of the rows that this transaction and, since the last one, other programs have marked.
  ///
  /// - Complexity: that of the expressions over the marked rows.
  func computeMarkedValues() throws {
    guard !layout.derived.isEmpty else { return }
    let found = try statement(.findDerivedMarks, 0) { DerivedPlan.findMarks }
    guard try run(found, { try database.step($0, doing: "look for changed rows") }) else { return }
    for group in layout.derived.groups {
      let statement = try statement(computing: group)
      try database.bind(shape.values, to: statement)
      _ = try run(statement) { try database.step($0, doing: "compute derived values") }
    }
    let delete = try statement(.deleteDerivedMarks, 0) { DerivedPlan.deleteMarks }
    _ = try run(delete) { try database.step($0, doing: "compute derived values") }
  }
}

extension FileCheck {
  /// Compares the stored values of derived attributes with their expressions.
  func checkDerivedValues() throws {
    let layout = setup.layout
    for group in layout.derived.groups {
      for column in group.columns {
        var keys: [Int64] = []
        try database.run(group.differences(of: column, in: layout), group.request(for: [column])) { pointer in
          keys.append(trellis_sqlite3_column_int64(pointer, 0))
        }
        for key in keys {
          try note(
            StoreFinding(
              .indexDiffers, "The store keeps another value of the derived attribute than its expression has.",
              repair:
                "Drop the table _derivedMarks with another tool; opening the store then computes all values anew.",
              entity: layout.model.entities[group.entity].name, key: key, properties: [column.attribute]))
        }
      }
    }
  }
}
