/// The way in which a store executes a request.
///
/// ```swift
/// print(try context.explain(EmotionDiary.where { $0.mood == "tired" }))
/// // SEARCH …, or: scans the whole table EmotionDiary; add "indexes": [["mood"]] to the entity EmotionDiary
/// ```
public struct QueryPlan: Sendable, CustomStringConvertible {
  /// An index that would avoid a scan of a whole table.
  public struct MissingIndex: Hashable, Sendable, CustomStringConvertible {
    public let entity: String
    /// The properties of the index in order. A minus before a name means descending.
    public let properties: [String]

    public init(entity: String, properties: [String]) {
      self.entity = entity
      self.properties = properties
    }

    /// The text to add to the entity in the model file.
    public var modelLine: String {
      "\"indexes\": [[\(properties.map { "\"\($0)\"" }.joined(separator: ", "))]]"
    }

    public var description: String { "add \(modelLine) to the entity \(entity)" }
  }

  /// The statement, with parameters instead of values; nil for a store without a query language.
  public var statement: String?
  /// The steps of the execution, in the store's own words.
  public var steps: [String]
  /// Whether the request scans the whole table of the entity.
  public var scansWholeTable: Bool
  /// The requested entity.
  public var entity: String
  /// The index that the model lacks for this request; nil if none is missing or no index could help.
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
