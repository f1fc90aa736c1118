package import TrellisModel
@_spi(Generated) import TrellisRuntime
import TrellisStorage

/// One object as the input has it: its values by field, and its partners by link.
///
/// Its properties need no checks of exclusive access: none of its methods calls anything that could reach the record
/// again.
package final class ImportRecord {
  package let map: EntityMap
  /// The record of the enclosing object, and the link that this one is nested in; nil for an element of the input.
  unowned(safe) let parent: ImportRecord?
  let link: LinkMap?
  /// The byte offset of the object.
  package let start: Int

  /// The given values, and their byte offsets, by field; nil for what is absent.
  @exclusivity(unchecked) package private(set) var values: [StoredValue?]
  @exclusivity(unchecked) private(set) var offsets: [Int]
  /// The given values of lists that are read element by element, by field.
  @exclusivity(unchecked) private var items: [Int: [StoredValue]] = [:]
  /// The given partners by link; nil for what is absent.
  @exclusivity(unchecked) package private(set) var links: [ImportedLink?]
  @exclusivity(unchecked) private(set) var problems: [ImportProblem] = []

  /// The object that the record is about, while a batch is carried out.
  @exclusivity(unchecked) var target: ImportTarget?
  @exclusivity(unchecked) var isRejected = false
  /// The key of the object, once the record is carried out.
  @exclusivity(unchecked) var doneKey: Int64?
  /// The links of which members are not known yet.
  @exclusivity(unchecked) var openLinks: Set<Int> = []

  package init(_ map: EntityMap, at start: Int, in parent: ImportRecord?, _ link: LinkMap?) {
    self.map = map
    self.start = start
    self.parent = parent
    self.link = link
    values = Array(repeating: nil, count: map.fields.count)
    offsets = Array(repeating: -1, count: map.fields.count)
    links = Array(repeating: nil, count: map.links.count)
  }

  package func set(_ field: Int, _ value: StoredValue, at offset: Int) {
    values[field] = value
    offsets[field] = offset
  }

  package func append(_ value: StoredValue, to field: Int) { items[field, default: []].append(value) }

  package func append(_ member: ImportedLink.Member, to link: Int) { links[link]?.members.append(member) }

  /// Begins a collection, or a partner.
  ///
  /// - Returns: whether objects that were read for it before are forgotten, because a key comes twice.
  @discardableResult package func begin(_ target: PathNode.Target, at offset: Int) -> Bool {
    switch target {
    case .field: return false
    case .item(let field):
      items[field] = []
      offsets[field] = offset
      return false
    case .link(let link):
      let isAgain = links[link]?.members.isEmpty == false
      links[link] = ImportedLink(offset: offset)
      return isAgain
    }
  }

  /// The record of the element of the input.
  var root: ImportRecord {
    var record = self
    while let parent = record.parent { record = parent }
    return record
  }

  /// Appends the record and all that are nested in it, outer ones first.
  func appendAll(to records: inout [ImportRecord]) {
    records.append(self)
    for case let link? in links {
      for case .record(let inner) in link.members { inner.appendAll(to: &records) }
    }
  }

  package func note(_ problem: ImportProblem) { problems.append(problem) }

  /// Sets a list that is read element by element to nil.
  package func setNull(_ field: Int, at offset: Int) {
    items[field] = nil
    set(field, .null, at: offset)
  }

  /// The number of values or members of a target with several.
  func count(_ target: PathNode.Target) -> Int {
    switch target {
    case .field: 0
    case .item(let field): items[field]?.count ?? 0
    case .link(let link): links[link]?.members.count ?? 0
    }
  }

  /// Forgets the value of a target, or its partners, and what was wrong with them.
  ///
  /// - Returns: whether there were partners.
  func forget(_ target: PathNode.Target) -> Bool {
    switch target {
    case .field(let field), .item(let field):
      values[field] = nil
      offsets[field] = -1
      items[field] = nil
      forgetProblems(of: target, from: 0)
      return false
    case .link(let link):
      forgetProblems(of: target, from: 0)
      defer { links[link] = nil }
      return links[link]?.members.isEmpty == false
    }
  }

  /// Forgets the values or members of a target from a number on, and what was wrong with them.
  ///
  /// - Parameter offset: The byte offset from which they were read.
  /// - Returns: whether there were partners.
  func forget(_ target: PathNode.Target, from count: Int, at offset: Int) -> Bool {
    forgetProblems(of: target, from: offset)
    switch target {
    case .field: return false
    case .item(let field):
      if let values = items[field] { items[field] = Array(values.prefix(count)) }
      return false
    case .link(let link):
      guard let members = links[link]?.members, members.count > count else { return false }
      links[link]?.members = Array(members.prefix(count))
      return true
    }
  }

  private func forgetProblems(of target: PathNode.Target, from offset: Int) {
    if problems.isEmpty { return }
    let (field, property): (Int?, String) =
      switch target {
      case .field(let number), .item(let number): (number, map.fields[number].attribute.name)
      case .link(let number): (nil, map.links[number].relationship.name)
      }
    problems.removeAll { $0.offset >= offset && (field != nil && $0.field == field || $0.property == property) }
  }

  /// Forgets what a value said that the document replaces by another one under the same key.
  func forgetProblems(of field: Int) { problems.removeAll { $0.field == field } }

  /// The key of the object, if it consists of values of its own; nil for others.
  var ownKey: ImportKey? {
    guard let number = map.keyNumber else { return nil }
    var values: [StoredValue] = []
    for case .field(let field) in map.keyParts {
      guard let value = self.values[field], !value.isNull else { return nil }
      values.append(value)
    }
    return values.count == map.keyParts.count ? ImportKey(number: number, values: KeyValues(values)) : nil
  }

  /// Makes texts of the lists that were read element by element.
  package func finish() {
    for (field, values) in items {
      let map = map.fields[field]
      if let text = ListText.text(values, of: map.value.type) {
        self.values[field] = .text(text)
      } else {
        note(ImportProblem(.badValue, at: offsets[field], field: field, "must be \(map.value.expectation)"))
      }
    }
    items = [:]
    // A field may have a path of its own, so that the document has no object for the whole, or null in its place.
    for group in map.groups where values[group.presence]?.isNull == true {
      for field in group.fields where values[field] == nil { set(field, .null, at: offsets[group.presence]) }
    }
    for group in map.groups where values[group.presence] == nil {
      guard let field = group.fields.first(where: { values[$0].map { !$0.isNull } ?? false }) else { continue }
      set(group.presence, .integer(1), at: offsets[field])
    }
  }
}

/// The partners of an object as the input has them.
package struct ImportedLink {
  package enum Member {
    /// A nested object.
    case record(ImportRecord)
    /// The key of an object.
    case reference(StoredValue, offset: Int)
    /// An object that could not be read at all.
    case unreadable
  }

  let offset: Int
  /// Empty for null.
  var members: [Member] = []
}

/// The reason why a record is rejected, before its place in the input is worked out.
package struct ImportProblem {
  let code: JSONImportFailure.Code
  let offset: Int
  /// The number of the field; nil if a link or the object as a whole is meant.
  let field: Int?
  let property: String?
  let message: String
  /// The key of the object that a reference does not lead to.
  var key: String?

  package init(
    _ code: JSONImportFailure.Code, at offset: Int, field: Int? = nil, property: String? = nil, _ message: String
  ) {
    self.code = code
    self.offset = offset
    self.field = field
    self.property = property
    self.message = message
  }
}

/// An object of the store, or one to be made, that records and references are about. As for records, no access to it
/// overlaps with another one.
final class ImportTarget {
  /// The number by which keys of other records refer to a target without an object.
  let number: Int
  @exclusivity(unchecked) var object: ManagedObject?
  @exclusivity(unchecked) var records: [ImportRecord] = []
  /// The target that stands for the same object, if another key had found it before.
  @exclusivity(unchecked) var same: ImportTarget?
  /// Whether the import has made the object.
  @exclusivity(unchecked) var isNew = false
  /// Whether the records have changed something.
  @exclusivity(unchecked) var isTouched = false
  /// Whether the object differs from what the store has.
  @exclusivity(unchecked) private(set) var isChanged = false
  /// The keys of the partners in to-ones before the first change, by property; 0 for none.
  @exclusivity(unchecked) private var formerPartners: [Int: (key: Int64, isColumn: Bool)] = [:]
  /// Whether members that stay with the object until the end of the import have been removed.
  @exclusivity(unchecked) var hasStrays = false
  /// Whether a save has discarded the changes.
  @exclusivity(unchecked) var isRefused = false
  /// Whether the records are carried out once more at the end, because the values of a unique key are taken.
  @exclusivity(unchecked) var isHeld = false
  /// Whether the object can be made.
  @exclusivity(unchecked) var isMade = false
  /// Whether a record that was carried out is about the object.
  @exclusivity(unchecked) var isMet = false

  init(_ number: Int, _ object: ManagedObject? = nil) {
    self.number = number
    self.object = object
  }

  /// Notes the key of the partner that a change of a to-one replaces.
  func noteFormerPartner(_ key: Int64, of relationship: Relationship) {
    if formerPartners[relationship.index] == nil { formerPartners[relationship.index] = (key, relationship.isColumn) }
  }

  func formerPartner(of relationship: Relationship) -> Int64? { formerPartners[relationship.index]?.key }

  /// Finds out whether the object differs from what the store has.
  func compare() throws {
    guard isTouched || isMet || !records.isEmpty, !isNew, let object, !object.isDeleted else { return }
    isChanged =
      try hasStrays || object.hasChanges
      || formerPartners.contains { try !$1.isColumn && object.partner(of: $0)?._key ?? 0 != $1.key }
  }

  /// The value that stands for the object in a key of another one.
  var keyPart: StoredValue { .integer(object?._key ?? Int64(-1 - number)) }
}
