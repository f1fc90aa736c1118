import TrellisStorage
import TrellisModel

/// Finds types for transformable attributes whose class the model does not tell, by their values.
struct TransformableTypes {
  private let file: StoreFile
  private let blobs: ExternalBlobs

  init(_ file: StoreFile) {
    self.file = file
    blobs = ExternalBlobs(besides: file.url)
  }

  /// The type of a transformable attribute; nil if it stays data.
  ///
  /// - Parameters:
  ///   - wanted: The type that another model has for it; nil if there is none.
  ///   - declared: The type of the class that the model names; nil if that tells nothing.
  /// - Throws: ``CoreDataError``.
  /// - Complexity: linear in the values.
  func type(
    ofColumn column: String, in table: String, isExternal: Bool, wanted: AttributeType?, declared: AttributeType?
  ) throws -> AttributeType? {
    var survey = Survey(candidates: [wanted, declared].compactMap { $0 })
    try file.rows(
      "SELECT \(SQLName.quoted(column)) FROM \(SQLName.quoted(table)) "
        + "WHERE \(SQLName.quoted(column)) IS NOT NULL"
    ) { row in
      guard case .blob(let bytes) = row.value(0) else { return survey.noteForeign() }
      guard isExternal else { return survey.note(bytes) }
      switch blobs.content(of: bytes) {
      case .value(let content): survey.note(content)
      case .missingFile: break
      }
    }
    return survey.type
  }

  /// What the values of a column have in common.
  private struct Survey {
    /// The types that the models want, the preferred first, with the number of values that are of the type.
    private let candidates: [AttributeType]
    private var fitting: [Int]
    private var count = 0
    private var foreign = 0
    private var lists = 0
    private var kinds: Set<AttributeType> = []

    init(candidates: [AttributeType]) {
      self.candidates = candidates
      fitting = candidates.map { _ in 0 }
    }

    mutating func noteForeign() {
      count += 1
      foreign += 1
    }

    mutating func note(_ bytes: [UInt8]) {
      guard let value = try? ArchivedValue(archive: bytes) else { return noteForeign() }
      if value == .null { return }
      count += 1
      for (place, candidate) in candidates.enumerated() where value.stored(as: candidate) != nil { fitting[place] += 1 }
      guard case .list(let elements) = value else {
        guard let kind = value.kind else {
          foreign += 1
          return
        }
        kinds.insert(kind)
        return
      }
      lists += 1
      for element in elements {
        guard let kind = element.kind else {
          foreign += 1
          return
        }
        kinds.insert(kind)
      }
    }

    /// The preferred candidate that all values have; else what all values are; else a candidate that some have.
    var type: AttributeType? {
      for (place, candidate) in candidates.enumerated() where fitting[place] == count { return candidate }
      if foreign == 0, lists == 0 || lists == count {
        if kinds == [.int64, .double] { return lists > 0 ? .array(.double) : .double }
        if kinds.count == 1, let kind = kinds.first { return lists > 0 ? .array(kind) : kind }
        // Nothing but empty lists.
        if kinds.isEmpty, lists > 0 { return .array(.string) }
      }
      for (place, candidate) in candidates.enumerated() where fitting[place] > 0 { return candidate }
      return nil
    }
  }
}

extension ArchivedValue {
  /// The type of a scalar; nil for anything else.
  fileprivate var kind: AttributeType? {
    switch self {
    case .bool: .bool
    case .integer: .int64
    case .real: .double
    case .text: .string
    case .data: .data
    case .date: .date
    case .url: .url
    case .uuid: .uuid
    case .decimal: .decimal
    case .null, .list, .dictionary: nil
    }
  }
}
