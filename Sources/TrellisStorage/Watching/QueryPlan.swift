/// How a store answers a request.
///
/// ```swift
/// print(try context.explain(EmotionDiary.where { $0.mood == "tired" }))
/// // SEARCH …, or: scans the whole table EmotionDiary; add "indexes": [["mood"]] to the entity EmotionDiary
/// ```
public struct QueryPlan: Sendable, CustomStringConvertible {
  /// An index that would spare a pass over a whole table.
  public struct MissingIndex: Hashable, Sendable, CustomStringConvertible {
    public let entity: String
    /// The properties of the index in their order; a minus before a name is descending.
    public let properties: [String]

    public init(entity: String, properties: [String]) {
      self.entity = entity
      self.properties = properties
    }

    /// What to add to the entity in the model file.
    public var modelLine: String {
      "\"indexes\": [[\(properties.map { "\"\($0)\"" }.joined(separator: ", "))]]"
    }

    public var description: String { "add \(modelLine) to the entity \(entity)" }
  }

  /// The statement, with parameters instead of values; nil for a store without a language of its own.
  public var statement: String?
  /// The store's own words for what it does, step by step.
  public var steps: [String]
  /// Whether every row of the entity's table is looked at.
  public var scansWholeTable: Bool
  /// The entity that was asked for.
  public var entity: String
  /// What the model lacks for this request; nil when nothing is lacking, or when no index could help.
  public var missingIndex: MissingIndex?

  public init(
    statement: String? = nil, steps: [String], scansWholeTable: Bool, entity: String, missingIndex: MissingIndex? = nil
  ) {
    self.statement = statement
    self.steps = steps
    self.scansWholeTable = scansWholeTable
    self.entity = entity
    self.missingIndex = missingIndex
  }

  public var description: String {
    var lines = statement.map { [$0] } ?? []
    lines += steps.map { "  \($0)" }
    if scansWholeTable { lines.append("scans the whole table \(entity)") }
    if let missingIndex { lines.append("\(missingIndex)") }
    return lines.joined(separator: "\n")
  }
}
