package import TrellisModel

/// What a migration of a store to the current model does, step by step, before anything is done.
///
/// ```swift
/// if let plan = try MigrationPlan(of: .sqlite(at: url), to: .diary) {
///   print(plan)
/// }
/// ```
/// prints what becomes of each entity and property, and the number of rows, values and links that a step concerns:
/// ```
///   safe      Entry.caption   renamed from title
///   rewrites  Entry.amount    double → decimal: 1204 rows
///   loses     Entry.mood      removed: 812 lost
///   asks      Entry.kind      string, new, required, and 1204 rows have no value
///             Write "backfill" or "default" at Entry.kind, or make it optional.
///   warns     Entry.content   maxLength 500, and 3 rows break it
///             They can be read; a save of a change of one of them is refused until it keeps the rule.
/// ```
public struct MigrationPlan: Sendable {
  /// What a step means for the stored data. Numbers are nil in a plan without a store.
  public enum Risk: Hashable, Sendable {
    /// No row is rewritten.
    case none
    /// Rows are rewritten, and nothing is lost.
    case rewrites(rows: Int?)
    /// Values, links or rows are lost with the model's consent.
    case loses(count: Int?)
    /// Rows break a rule of the current model that the stored model does not have. They are stored as they are and can be
    /// read; a save of a change of such an object is refused until the object keeps the rule.
    case warns(rows: Int?)
    /// The model does not say what becomes of the data.
    case asks(Question)
    /// Only a change of the data, by the former program or by a step in Swift, makes the migration possible. The text
    /// says which.
    case impossible(String)
  }

  /// What the model does not say.
  public struct Question: Hashable, Sendable {
    /// Whether data would be lost; otherwise a value is missing.
    public let isLoss: Bool
    /// What to write in the model, as sentences.
    public let answer: String
  }

  /// One change.
  public struct Step: Hashable, Sendable {
    /// The entity or property, as `Entry.title`, by its current name if it has one.
    public let subject: String
    /// The change, as the end of a sentence that begins with the subject.
    public let text: String
    /// What the step means for the stored data.
    public let risk: Risk
    /// What is to be done, if the risk does not tell it.
    var advice: String?
  }

  package let migration: Migration
  private let codedSteps: [CodedStep]
  /// What programs with the stored model could not live with, if they went on using the store after the migration: the
  /// entity or property, and the reason, such as `Entry.mood: renamed to feeling`.
  ///
  /// If there is nothing, the migration is additive. A store on a server stays open to programs with the stored model
  /// then; a file is used by programs with one model only.
  ///
  /// - Complexity: n log n in the number of declared properties of both models.
  public var incompatibilities: [String] { Expansion(migration, steps: codedSteps).obstacles.map(\.description) }
  /// The statements of a store that is no SQLite file; nil for one that is, and without a store.
  package var statements: [String]?
  /// The changes: in the order of the current model, then what is gone in the order of the stored model. Empty if only
  /// docs, rules, indexes or the order of entities and properties differ.
  public let steps: [Step]

  /// - Parameters:
  ///   - counts: the counts of a store; nil for a plan without a store, which assumes that there are rows.
  ///   - allowsLoss: whether what has no place in the current model may go without the model's consent.
  ///   - steps: the steps in Swift that follow the rules.
  /// - Throws: errors of the counts.
  package init(
    _ migration: Migration, counts: (any MigrationCounts)? = nil, allowsLoss: Bool = false, steps: [CodedStep] = []
  ) throws {
    self.migration = migration
    codedSteps = steps
    var planner = MigrationPlanner(migration, counts, allowsLoss, hasSteps: !steps.isEmpty)
    try planner.planEntities()
    try planner.planLosses()
    try planner.planBounds()
    for step in steps { planner.plan(step) }
    self.steps = planner.steps
  }

  /// The steps without an answer. A migration begins only if there are none.
  public var questions: [Step] {
    steps.filter { step in
      switch step.risk {
      case .asks, .impossible: true
      case .none, .rewrites, .loses, .warns: false
      }
    }
  }

  /// Whether the migration loses data, with the model's consent.
  public var loses: Bool {
    steps.contains { step in
      if case .loses(let count) = step.risk { count != 0 } else { false }
    }
  }
}

// MARK: - Gone cases

/// The cases of stored enums that the current enum does not have, with the numbers of their values.
private struct GoneCases {
  private var counts: [(name: String, count: Int?)] = []
  /// The number of values without a case.
  private var others = 0
  /// A case that a former name can be written for, and the current enum; nil if there is none.
  private(set) var renamable: (name: String, enumeration: String, hasFormerNames: Bool)?

  /// - Parameter misfits: nil without a store, which has values of each case.
  mutating func add(_ conversion: ValueConversion, _ misfits: Misfits?) {
    guard let enums = conversion.enums else { return }
    for gone in EnumConversion(from: enums.old, to: enums.new).gone {
      // The elements of lists are not counted.
      let count = conversion.isOfEnums ? misfits.map { $0.cases[gone.rawValue] ?? 0 } : nil
      if count == 0 { continue }
      if renamable == nil {
        let hasFormerNames = enums.new.cases.contains { !$0.renamedFrom.isEmpty }
        renamable = (gone.name, enums.new.name, hasFormerNames)
      }
      if let place = counts.firstIndex(where: { $0.name == gone.name }) {
        counts[place].count = counts[place].count.flatMap { known in count.map { known + $0 } }
      } else {
        counts.append((gone.name, count))
      }
    }
    let cases = Set(enums.old.cases.map(\.rawValue))
    others += misfits?.cases.filter { !cases.contains($0.key) }.values.reduce(0, +) ?? 0
  }

  /// The cases in words; nil if there are none.
  var text: String? {
    var words = counts.map { entry in
      entry.name + (entry.count.map { " (\(MigrationPlanner.count($0, "value", "values")))" } ?? "")
    }
    if others > 0 { words.append("\(MigrationPlanner.count(others, "value", "values")) without a case") }
    return words.isEmpty ? nil : words.joined(separator: ", ")
  }
}

// MARK: - Text

extension MigrationPlan: CustomStringConvertible {
  /// The steps, a line each, and what is to be written for each question.
  public var description: String {
    if steps.isEmpty { return "  nothing to do\n" }
    let width = min(40, steps.map(\.subject.count).max() ?? 0)
    return steps.map { step in
      let subject = step.subject + String(repeating: " ", count: max(0, width - step.subject.count))
      let word = step.risk.word + String(repeating: " ", count: 8 - step.risk.word.count)
      let line = "  \(word)  \(subject)  \(step.text)\(step.countText)\n"
      return step.answer.isEmpty ? line : line + "            \(step.answer)\n"
    }.joined()
  }
}

extension MigrationPlan.Step: CustomStringConvertible {
  /// The risk, the subject and the change: `rewrites Entry.title is now optional`.
  public var description: String { "\(risk.word) \(subject) \(text)\(countText)" }
}

extension MigrationPlan.Risk {
  /// The risk in one word of at most eight letters.
  fileprivate var word: String {
    switch self {
    case .none: "safe"
    case .rewrites: "rewrites"
    case .loses: "loses"
    case .warns: "warns"
    case .asks: "asks"
    case .impossible: "blocked"
    }
  }
}

extension MigrationPlan.Step {
  fileprivate var countText: String {
    switch risk {
    case .rewrites(let rows?): ": \(MigrationPlanner.count(rows, "row", "rows"))"
    case .loses(let count?): ": \(count) lost"
    case .none, .rewrites, .loses, .warns, .asks, .impossible: ""
    }
  }

  /// What is to be done; empty if nothing is.
  var answer: String {
    if let advice { return advice }
    return switch risk {
    case .asks(let question): question.answer
    case .impossible(let reason): reason
    case .warns:
      "They can be read; a save of a change of one of them is refused until it keeps the rule."
    case .none, .rewrites, .loses: ""
    }
  }
}

/// The counts of a store that tell what a plan means for it. Entities and columns are those of the stored model; an
/// entity stands for its own rows, without those of its children.
package protocol MigrationCounts {
  func rows(of entity: Int) throws -> Int
  /// The rows without a value.
  func missing(column: Int, in entity: Int) throws -> Int
  /// The rows for which a current column has no value, although its fillings are computed.
  func blanks(column: Int, of move: RowMove) throws -> Int
  /// The values that a conversion has no counterpart for.
  func misfits(_ source: StoredColumn, in entity: Int) throws -> Misfits
  /// The values or pairs that are lost.
  func lost(_ loss: Loss) throws -> Int
  /// The pairs of two kept objects that the current link cannot have, by the current link's number.
  func lostPairs(of link: Int) throws -> Int
  /// The values that a unique key would hold for several rows.
  func duplicates(of key: NewKey) throws -> NewKey.Duplicates
  /// The rows that break a new bound, by its number; nil if they are not counted.
  func breaches(of bound: Int) throws -> Int?
}

/// The counts of a store that counts what each entity loses by itself.
package protocol LossCounts: MigrationCounts {
  var migration: Migration { get }
  /// The rows with a value.
  func present(column: Int, in entity: Int) throws -> Int
  /// The pairs of a relationship that the rows of an entity have with rows of others.
  func pairs(_ number: Int, of entity: Int, with partners: [Int]) throws -> Int
}

extension LossCounts {
  package func lost(_ loss: Loss) throws -> Int { try sum(loss) }

  /// The values or pairs that are lost, of all entities together.
  package func sum(_ loss: Loss) throws -> Int {
    var count = 0
    for owner in loss.owners {
      switch loss.subject {
      case .rows: count += try rows(of: owner)
      case .values(let number):
        guard let column = migration.stored.entities[loss.entity].properties[number].column else { continue }
        count += try present(column: column, in: owner)
      case .pairs(let number): count += try pairs(number, of: owner, with: loss.partners)
      }
    }
    return count
  }
}

/// The values of a column that a conversion has no counterpart for.
package struct Misfits: Hashable, Sendable {
  /// The number of values.
  package private(set) var count = 0
  /// The number of values of each case of an enum, and of those without a case, by the stored value. Empty for other
  /// types, whose values are data of the user.
  package private(set) var cases: [StoredValue: Int] = [:]
  /// The keys of the first rows with such a value, in ascending order.
  package private(set) var rows: [Int64] = []

  /// The maximum number of ``rows``.
  package static let shownRows = 5

  package init() {}

  /// Adds the values of an enum.
  package mutating func add(_ count: Int, of value: StoredValue) {
    self.count += count
    cases[value, default: 0] += count
  }

  /// Adds the value of a row.
  package mutating func add(row: Int64) {
    count += 1
    if rows.count == Self.shownRows, let last = rows.last {
      guard row < last else { return }
      rows.removeLast()
    }
    rows.insert(row, at: rows.firstIndex { $0 > row } ?? rows.endIndex)
  }

  /// Adds rows, of which the first are known.
  package mutating func add(_ count: Int, first rows: [Int64]) {
    for row in rows { add(row: row) }
    self.count += count - rows.count
  }
}

/// Collects the steps of a plan.
private struct MigrationPlanner {
  private(set) var steps: [MigrationPlan.Step] = []
  private let migration: Migration
  private let counts: (any MigrationCounts)?
  private let allowsLoss: Bool
  /// Whether steps in Swift follow the rules.
  private let hasSteps: Bool
  /// The moves of rows of each current entity and of its descendants.
  private let moves: [[RowMove]]

  private var match: ModelMatch { migration.match }

  init(_ migration: Migration, _ counts: (any MigrationCounts)?, _ allowsLoss: Bool, hasSteps: Bool) {
    self.hasSteps = hasSteps
    self.migration = migration
    self.counts = counts
    self.allowsLoss = allowsLoss
    var moves: [[RowMove]] = migration.current.entities.map { _ in [] }
    for move in migration.rows.compactMap(\.self) {
      for entity in migration.current.lineage(of: move.entity) { moves[entity].append(move) }
    }
    self.moves = moves
  }

  private mutating func add(_ subject: String, _ text: String, _ risk: MigrationPlan.Risk) {
    steps.append(MigrationPlan.Step(subject: subject, text: text, risk: risk))
  }

  // MARK: Entities

  mutating func planEntities() throws {
    for entity in match.current.entities {
      guard let origin = match.origins[entity.index] else {
        add(entity.name, "new", .none)
        try planRelationships(of: entity)
        try planKeys(of: entity)
        continue
      }
      let former = match.stored.entities[origin]
      if let text = change(of: entity, from: former) { add(entity.name, text, .none) }
      for case .attribute(let attribute) in entity.properties { try plan(attribute, of: entity, from: former) }
      try planRelationships(of: entity)
      try planKeys(of: entity)
    }
  }

  private func change(of entity: Entity, from former: Entity) -> String? {
    var changes: [String] = []
    if former.name != entity.name { changes.append("renamed from \(former.name)") }
    let parent = entity.parent.map { match.current.entities[$0].name }
    if former.parent.flatMap({ match.successors[$0] }) != entity.parent || (former.parent == nil) != (parent == nil) {
      changes.append(parent.map { "child of \($0)" } ?? "without a parent")
    }
    if former.isAbstract != entity.isAbstract { changes.append(entity.isAbstract ? "abstract" : "not abstract") }
    return changes.isEmpty ? nil : changes.joined(separator: ", ")
  }

  // MARK: Properties

  private mutating func plan(_ attribute: Attribute, of entity: Entity, from former: Entity) throws {
    guard let column = attribute.column, !isTold(attribute, above: entity, former) else { return }
    try plan(attribute, column, "\(entity.name).\(attribute.name)", entity, former)
  }

  /// Whether an inherited attribute is told at the parent: the rows of both have it from the same stored attribute.
  private func isTold(_ attribute: Attribute, above entity: Entity, _ former: Entity) -> Bool {
    guard attribute.entity != entity.index, let parent = entity.parent, let origin = match.origins[parent],
      match.stored.isEntity(former.index, within: origin)
    else { return false }
    return match.properties[origin][attribute.index] == match.properties[former.index][attribute.index]
  }

  private mutating func plan(
    _ attribute: Attribute, _ column: Int, _ subject: String, _ entity: Entity, _ former: Entity
  ) throws {
    var changes = changes(of: attribute, in: entity)
    let isToldByRows = changes.isEmpty
    if isToldByRows {
      // The same type converts values only if it is an enum with other cases.
      let isEnum = if case .enumeration = attribute.type { true } else { false }
      changes = [isEnum ? "other cases of \(attribute.type.spelling)" : "new for some rows"]
    }
    var rewritten = 0
    var lost: Int? = 0
    var gone = GoneCases()
    for move in moves[entity.index] {
      let fate = try fate(of: attribute, column, move)
      if let number = fate.conversion { gone.add(migration.conversions[number], fate.misfits) }
      switch fate.kind {
      case .unchanged: break
      case .rewritten: rewritten += try counts?.rows(of: move.origin) ?? 1
      case .loses(let count): lost = count.flatMap { count in lost.map { $0 + count } }
      case .lacks(let rows, let isComputed):
        return ask(attribute, subject, changes, missing: rows, isComputed: isComputed, move.origin)
      case .misfits: return askForMisfits(attribute, subject, changes, fate.misfits, gone, move)
      }
    }
    if isToldByRows && lost == 0 && rewritten == 0 { return }
    if let cases = gone.text { changes.append("without \(cases)") }
    if let name = match.otherStruct(of: attribute, in: entity.index), lost == 0 {
      return try addStruct(name, attribute, subject, changes, moves[entity.index])
    }
    let risk: MigrationPlan.Risk =
      lost != 0 ? .loses(count: lost) : rewritten > 0 ? .rewrites(rows: counts == nil ? nil : rewritten) : .none
    add(subject, changes.joined(separator: ", "), risk)
  }

  /// Adds the step of an attribute whose struct has another version.
  private mutating func addStruct(
    _ name: String, _ attribute: Attribute, _ subject: String, _ changes: [String], _ moves: [RowMove]
  ) throws {
    var values: Int? = counts == nil ? nil : 0
    for move in moves {
      guard let counts, let column = attribute.column, case .stored(let source) = move.columns[column] else { continue }
      let missing = try counts.missing(column: source.column, in: move.origin)
      values = try values.map { try $0 + counts.rows(of: move.origin) - missing }
    }
    if values == 0 { return }
    let found = values.map { ", which \(Self.count($0, "value has", "values have")) to fit" } ?? ""
    steps.append(
      MigrationPlan.Step(
        subject: subject, text: changes.joined(separator: ", ") + found, risk: .warns(rows: values),
        advice: "\(name) reads them as they are: a property that they lack is optional, or has a value in init(from:).")
    )
  }

  private func changes(of attribute: Attribute, in entity: Entity) -> [String] {
    guard let old = match.origin(of: attribute.index, in: entity.index)?.attribute else {
      return ["\(attribute.type.spelling), new"]
    }
    var changes: [String] = []
    if attribute.name != old.name { changes.append("renamed from \(old.name)") }
    if attribute.type != old.type { changes.append("\(old.type.spelling) → \(attribute.type.spelling)") }
    if old.isOptional != attribute.isOptional { changes.append(attribute.isOptional ? "optional" : "required") }
    if let name = match.otherStruct(of: attribute, in: entity.index) {
      let (before, now) = (
        match.stored.description.codableVersions[name], match.current.description.codableVersions[name]
      )
      changes.append("\(name) \(before ?? 1) → \(now ?? 1)")
    }
    if old.description.isExternal != attribute.description.isExternal {
      changes.append(attribute.description.isExternal ? "may be in files" : "in the row")
    }
    return changes
  }

  /// What becomes of an attribute's values in the rows of one stored entity. Numbers are nil without counts.
  private struct Fate {
    enum Kind {
      case unchanged
      case rewritten
      /// Values without a counterpart go, with consent.
      case loses(Int?)
      /// Rows have no value, and the model has none for them, or computes none.
      case lacks(rows: Int?, isComputed: Bool = false)
      /// Values have no counterpart, and the model does not consent to their loss.
      case misfits
    }

    var kind: Kind
    /// The number of the conversion that values have no counterpart for; nil if all have one.
    var conversion: Int?
    var misfits: Misfits?

    init(_ kind: Kind) { self.kind = kind }
  }

  private func fate(of attribute: Attribute, _ column: Int, _ move: RowMove) throws -> Fate {
    switch move.columns[column] {
    case .partner, .place, .new(.null): return Fate(.unchanged)
    case .new(let filling):
      // Rows are not counted in vain, which takes time in a large table.
      if filling.isConstant { return Fate(.unchanged) }
      let rows = try counts?.rows(of: move.origin)
      if rows == 0 { return Fate(.unchanged) }
      if filling == .unanswered { return Fate(.lacks(rows: rows)) }
    case .stored(let source):
      let missing = source.missing == .null ? 0 : try counts?.missing(column: source.column, in: move.origin)
      if missing != 0 && source.missing == .unanswered { return Fate(.lacks(rows: missing)) }
      if let fate = try misfitFate(of: attribute, column, source, move) { return fate }
      if missing == 0 && source.conversion == nil && !source.isInlined { return Fate(.unchanged) }
    }
    let blanks = try computedBlanks(attribute, column, move)
    return blanks == 0 ? Fate(.rewritten) : Fate(.lacks(rows: blanks, isComputed: true))
  }

  /// - Returns: nil if all values have a counterpart.
  private func misfitFate(
    of attribute: Attribute, _ column: Int, _ source: StoredColumn, _ move: RowMove
  ) throws -> Fate? {
    guard let number = source.conversion, migration.conversions[number].reach == .counted else { return nil }
    let misfits = try counts?.misfits(source, in: move.origin)
    if misfits?.count == 0 { return nil }
    var fate = Fate(.misfits)
    (fate.conversion, fate.misfits) = (number, misfits)
    if source.misfit == .unanswered { return fate }
    var lost = misfits?.count
    if let counts, migration.reads(source.column, of: move.origin, source.misfit) {
      // A value that an expression makes another one of is not lost, unless the result is null.
      let missing = attribute.isOptional ? try counts.missing(column: source.column, in: move.origin) : 0
      lost = try counts.blanks(column: column, of: move) - missing
    }
    guard lost == 0 || attribute.description.isLossy || allowsLoss else { return fate }
    let blanks = try computedBlanks(attribute, column, move)
    fate.kind = blanks != 0 ? .lacks(rows: blanks, isComputed: true) : lost == 0 ? .rewritten : .loses(lost)
    return fate
  }

  /// The number of rows for which the model computes no value that they need.
  private func computedBlanks(_ attribute: Attribute, _ column: Int, _ move: RowMove) throws -> Int {
    guard !attribute.isOptional, move.columns[column].isComputed else { return 0 }
    return try counts?.blanks(column: column, of: move) ?? 0
  }

  private mutating func ask(
    _ attribute: Attribute, _ subject: String, _ changes: [String], missing: Int?, isComputed: Bool, _ origin: Int
  ) {
    // A new attribute is not told to be required otherwise.
    let isNew = match.properties[origin][attribute.index] == nil
    let text = (changes + (isNew ? ["required"] : [])).joined(separator: ", ")
    let rows = missing.map { Self.count($0, "row has", "rows have") } ?? "rows may have"
    let fault = migration.faults.first { $0.origin == origin && $0.property == attribute.index }
    let place = Self.place(of: attribute, subject)
    // No constant can be written for a struct of the app, and no expression makes one.
    let isCodable = if case .codable = attribute.type { true } else { false }
    var answer =
      isCodable
      ? "Write \"optional\": true at \(place)."
      : "Write \"backfill\" or \"default\" at \(place), or make it optional."
    if isCodable {
    } else if let fault {
      let word = fault.isOfOtherVersion ? "a \"default\"" : "another \"backfill\""
      answer =
        "Write \(word) at \(place), or make it optional, because its backfill cannot be computed from these rows: "
        + fault.message
    } else if isComputed {
      answer =
        "Write another \"backfill\" at \(place), or make it optional, because its backfill is null for these rows or "
        + "does not fit the type."
    }
    add(subject, "\(text), and \(rows) no value", .asks(MigrationPlan.Question(isLoss: false, answer: answer)))
  }

  private mutating func askForMisfits(
    _ attribute: Attribute, _ subject: String, _ changes: [String], _ misfits: Misfits?, _ gone: GoneCases,
    _ move: RowMove
  ) {
    let found = misfits.map { Self.count($0.count, "value has", "values have") } ?? "values may have"
    let rows = (misfits?.rows ?? []).map { "\(match.current.entities[move.entity].name)/\($0)" }
    let more = misfits.map { !$0.rows.isEmpty && $0.count > $0.rows.count } ?? false
    let examples = gone.text ?? (rows.isEmpty ? nil : rows.joined(separator: ", ") + (more ? ", …" : ""))
    let place = Self.place(of: attribute, subject)
    let isFilled = attribute.isOptional || move.columns[attribute.column ?? 0].hasMisfitFilling
    let lossy =
      attribute.description.isLossy && !isFilled
      ? "a \"backfill\" or \"default\" at \(place), which takes their place, or make it optional"
      : "\"convert\": \"lossy\" at \(place) if they may go"
        + (isFilled ? "" : ", with a \"backfill\" or \"default\" in their place")
    let answer =
      gone.renamable.map {
        "Write \"renamedFrom\": \"\($0.name)\" at the case of \($0.enumeration) that they become"
          + ($0.hasFormerNames ? ", in a list with its other former names" : "") + ", or \(lossy)."
      }
      ?? "Write \(lossy), or convert them in a step."
    add(
      subject,
      "\(changes.joined(separator: ", ")), and \(found) no counterpart" + (examples.map { ": \($0)" } ?? ""),
      .asks(MigrationPlan.Question(isLoss: true, answer: answer)))
  }

  /// The place in the model file at which an attribute is described.
  private static func place(of attribute: Attribute, _ subject: String) -> String {
    guard attribute.role == .field, let dot = attribute.name.firstIndex(of: ".") else { return subject }
    let field = attribute.name[dot...].dropFirst()
    return "\(subject.dropLast(field.count + 1)), under \"fields\" for \"\(field)\""
  }

  static func count(_ number: Int, _ one: String, _ many: String) -> String {
    number == 1 ? "1 \(one)" : "\(number) \(many)"
  }

  // MARK: Relationships

  private mutating func planRelationships(of entity: Entity) throws {
    for case .relationship(let relationship) in entity.properties where relationship.entity == entity.index {
      try plan(relationship, "\(entity.name).\(relationship.name)", isNewEntity: match.origins[entity.index] == nil)
    }
  }

  private mutating func plan(_ relationship: Relationship, _ subject: String, isNewEntity: Bool) throws {
    guard let (number, isSecond) = migration.currentLinks.link(of: relationship) else { return }
    let move = migration.links[number]
    guard !move.sources.isEmpty else {
      if !isSecond && !isNewEntity { add(subject, "new", .none) }
      return
    }
    let changes = changes(relationship, move, isSecond: isSecond)
    guard !changes.isEmpty || !isSecond && move.mayLose else { return }
    let text = changes.isEmpty ? "stored in another way" : changes.joined(separator: ", ")
    // The end that holds the link tells what becomes of the pairs, unless only the other one has changed.
    let tells = !isSecond || self.changes(move.link.first, move, isSecond: false).isEmpty
    guard tells, move.mayLose else {
      let isRewritten = !isSecond && move.way == .collected
      return add(subject, text, isRewritten ? .rewrites(rows: nil) : .none)
    }
    let lost = try counts?.lostPairs(of: number)
    if lost == 0 { return add(subject, text, .rewrites(rows: nil)) }
    let isLossy = move.link.first.description.isLossy || move.link.second?.description.isLossy ?? false
    guard !isLossy && !allowsLoss else { return add(subject, text, .loses(count: lost)) }
    let pairs = lost.map { Self.count($0, "link has", "links have") } ?? "links may have"
    add(
      subject, "\(text), and \(pairs) no place",
      .asks(
        MigrationPlan.Question(
          isLoss: true, answer: "Write \"convert\": \"lossy\" at \(subject) if they may go, or choose in a step.")))
  }

  /// The stored relationship that a relationship continues; nil if its end is new.
  private func former(_ move: LinkMove, isSecond: Bool) -> Relationship? {
    guard let source = move.sources.first else { return nil }
    let link = migration.storedLinks.all[source.link]
    return source.isReversed == isSecond ? link.first : link.second
  }

  private func changes(_ relationship: Relationship, _ move: LinkMove, isSecond: Bool) -> [String] {
    guard let old = former(move, isSecond: isSecond) else { return ["new, as the other end of what is stored"] }
    var changes: [String] = []
    if relationship.name != old.name { changes.append("renamed from \(old.name)") }
    let destination = match.successors[old.destination]
    if destination != relationship.destination, match.origins[relationship.destination] != nil || destination == nil {
      changes.append("to \(relationship.description.destination) instead of \(old.description.destination)")
    }
    if relationship.isToMany != old.isToMany {
      changes.append(relationship.isToMany ? "to many instead of one" : "to one instead of many")
    }
    if relationship.isOrdered != old.isOrdered { changes.append(relationship.isOrdered ? "ordered" : "not ordered") }
    if (relationship.inverse == nil) != (old.inverse == nil) {
      changes.append(relationship.inverse == nil ? "without an inverse" : "with an inverse")
    }
    return changes
  }

  // MARK: Unique keys

  private mutating func planKeys(of entity: Entity) throws {
    for key in migration.newKeys where key.entity == entity.index {
      let subject = "\(entity.name).\(key.properties.map { entity.properties[$0].name }.joined(separator: ", "))"
      guard let duplicates = try counts?.duplicates(of: key), duplicates.count > 0 else {
        add(subject, "unique", .none)
        continue
      }
      let examples = duplicates.rows.map { rows in rows.map { "\(entity.name)/\($0)" }.joined(separator: " and ") }
      let values = Self.count(duplicates.count, "value is", "values are")
      add(
        subject,
        "unique, and \(values) stored more than once: \(examples.joined(separator: "; "))"
          + (duplicates.count > examples.count ? "; …" : ""),
        // If the steps leave some of them, the migration fails when they have run.
        hasSteps
          ? .rewrites(rows: nil)
          : .impossible("Make the values unique with the former program, or unite the rows in a step."))
    }
  }

  // MARK: Bounds

  mutating func planBounds() throws {
    for (number, bound) in migration.newBounds.enumerated() {
      let rows = try counts?.breaches(of: number)
      if rows == 0 { continue }
      let entity = match.current.entities[bound.entity]
      let found = rows.map { Self.count($0, "row breaks", "rows break") } ?? "rows may break"
      add(
        "\(entity.name).\(entity.properties[bound.property].name)",
        "\(bound.words.joined(separator: ", ")), and \(found) \(bound.words.count == 1 ? "it" : "them")",
        .warns(rows: rows))
    }
  }

  // MARK: Steps

  mutating func plan(_ step: CodedStep) {
    add("version \(step.number)", "a step in Swift reads its rows and writes objects", .rewrites(rows: nil))
  }

  // MARK: Losses

  mutating func planLosses() throws {
    for loss in migration.losses { try plan(loss) }
  }

  private mutating func plan(_ loss: Loss) throws {
    let entity = match.stored.entities[loss.entity]
    let count = try counts?.lost(loss)
    let owner = match.successors[entity.index].map { match.current.entities[$0].name } ?? entity.name
    let name: String
    let nouns: (one: String, many: String)
    switch loss.subject {
    case .rows: (name, nouns) = (entity.name, ("row", "rows"))
    case .values(let number): (name, nouns) = (entity.properties[number].name, ("value", "values"))
    case .pairs(let number): (name, nouns) = (entity.properties[number].name, ("link", "links"))
    }
    if let remaining = loss.remaining { return planRemaining(loss, remaining, count) }
    let subject = loss.subject == .rows ? name : "\(owner).\(name)"
    if count == 0 { return add(subject, "gone; there are no \(nouns.many)", .none) }
    let found = count.map { Self.count($0, nouns.one, nouns.many) }
    if loss.isConsented || allowsLoss { return add(subject, "removed", .loses(count: count)) }
    let place = loss.subject == .rows ? "the model" : owner
    let rename = loss.likelyName.map { likely in
      let target = loss.subject == .rows ? likely : "\(owner).\(likely)"
      return "Write \"renamedFrom\": \"\(name)\" at \(target) if it is now called so; "
    }
    let text =
      loss.replacement.map { $0 == name ? "cannot become what is now called so" : "cannot become \($0)" }
      ?? "has no place in this model"
    add(
      subject, text + (found.map { ", and there \(count == 1 ? "is" : "are") \($0)" } ?? ""),
      .asks(
        MigrationPlan.Question(
          isLoss: true,
          answer: (rename ?? "") + "\(rename == nil ? "Write" : "write") "
            + (loss.replacement.map { "\"convert\": \"lossy\" at \(owner).\($0)" }
              ?? "\"removed\": [\"\(name)\"] in \(place)")
            + " if its \(nouns.many) may go.")))
  }

  /// A relationship that stays, but not with all of its partners.
  private mutating func planRemaining(_ loss: Loss, _ remaining: RelationshipNumber, _ count: Int?) {
    guard count != 0, let relationship = match.current.relationship(remaining) else { return }
    let subject = "\(relationship.entityName).\(relationship.name)"
    if loss.isConsented || allowsLoss {
      return add(subject, "not with all of its former objects", .loses(count: count))
    }
    let pairs = count.map { Self.count($0, "link has", "links have") } ?? "links may have"
    add(
      subject, "not with all of its former objects, and \(pairs) no place",
      .asks(
        MigrationPlan.Question(
          isLoss: true, answer: "Write \"convert\": \"lossy\" at \(subject) if they may go, or choose in a step.")))
  }
}
