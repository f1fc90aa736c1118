package import TrellisModel

/// A migration resolved to numbers: the place of each stored row, value and link in the current model.
///
/// Every store carries out the same migration: SQLite by statements, documents and the memory store row by row.
package final class Migration: Sendable {
  package let match: ModelMatch
  /// The move of each stored entity's own rows; nil for an abstract entity and for rows that are deleted.
  package let rows: [RowMove?]
  /// The moves of links, by the number of the current model's link.
  package let links: [LinkMove]
  /// The conversions of values.
  package let conversions: [ValueConversion]
  /// The expressions that fill values.
  package let expressions: [BackfillExpression]
  /// The expressions that cannot fill values.
  let faults: [BackfillFault]
  /// What the stored model has and the current one does not account for, or consents to lose.
  package let losses: [Loss]
  /// The unique keys that the stored rows may violate.
  package let newKeys: [NewKey]
  /// The rules that stored data may break.
  package let newBounds: [NewBound]
  package let storedLinks: LinkList
  let currentLinks: LinkList

  package var stored: Model { match.stored }
  package var current: Model { match.current }

  /// - Complexity: linear in the number of properties, inherited ones included, times the depth of the hierarchies.
  package init(_ match: ModelMatch) {
    self.match = match
    storedLinks = LinkList(match.stored)
    currentLinks = LinkList(match.current)
    var resolver = MigrationResolver(match, storedLinks, currentLinks)
    links = resolver.moveLinks()
    rows = resolver.moveRows(links)
    conversions = resolver.conversions
    expressions = resolver.expressions
    faults = resolver.faults
    losses = resolver.findLosses(rows, links)
    newKeys = NewKey.all(match, rows)
    newBounds = NewBound.all(match, rows, links, storedLinks, currentLinks)
  }

  package convenience init(from stored: Model, to current: Model) {
    self.init(ModelMatch(from: stored, to: current))
  }

  /// Whether there is something to tell although the stored data is valid as it is.
  package var isTold: Bool { !newBounds.isEmpty || match.hasOtherStructs }

  /// Whether a filling is computed from a stored column.
  func reads(_ column: Int, of origin: Int, _ filling: Filling) -> Bool {
    guard case .expression(let number) = filling else { return false }
    let property = stored.entities[origin].columns[column].property
    return PredicateNode.operand(expressions[number].operand).reads(property)
  }

  /// Whether the stored data is valid for the current model as it is: every row, column and link stays where it is.
  package var isIdentity: Bool {
    TextBytes.areEqual(stored.storageSignature, current.storageSignature) && losses.isEmpty
      && rows.allSatisfy {
        $0?.isIdentity(from: stored, to: current) ?? true
      } && links.allSatisfy { $0.isIdentity(storedLinks, stored, current) }
  }
}

extension PredicateNode {
  /// Whether the value of a property of the object itself is in the tree.
  fileprivate func reads(_ property: Int) -> Bool {
    if case .operand(.path(let path)) = self, path.variable == 0, path.onlyStep == property { return true }
    return hasPart { $0.reads(property) }
  }
}

/// The move of the rows of one stored entity to an entity of the current model. They keep their keys and versions.
package struct RowMove: Hashable, Sendable {
  /// The stored entity.
  package let origin: Int
  /// The current entity.
  package let entity: Int
  /// The source of each column of the current entity.
  package let columns: [ColumnSource]
}

/// The source of a column's values.
package enum ColumnSource: Hashable, Sendable {
  /// A stored column of the origin.
  case stored(StoredColumn)
  /// A new attribute.
  case new(Filling)
  /// The key of the first partner, by the number of the current link.
  case partner(Int)
  /// The place in the partner's list, by the number of the current link.
  case place(Int)

  /// Whether an expression gives values to some of the rows.
  var isComputed: Bool {
    switch self {
    case .stored(let source): source.missing.isComputed || source.misfit.isComputed
    case .new(let filling): filling.isComputed
    case .partner, .place: false
    }
  }

  /// Whether the model says what rows get whose value has no counterpart.
  var hasMisfitFilling: Bool {
    if case .stored(let source) = self { source.misfit != .unanswered } else { false }
  }
}

/// The use of a stored column.
package struct StoredColumn: Hashable, Sendable {
  /// The number of the column in the stored entity.
  package let column: Int
  /// Whether data that may be in a file comes into the row.
  package var isInlined = false
  /// The number of the conversion; nil if values stay as they are.
  package var conversion: Int?
  /// The value of rows without one. Null in most cases.
  package var missing = Filling.null
  /// The value of rows with a value that the conversion has no counterpart for.
  package var misfit = Filling.null

  /// Whether the values stay as they are.
  var isPlain: Bool { !isInlined && conversion == nil && missing == .null }
}

/// The move of the pairs of stored links to a link of the current model.
package struct LinkMove: Sendable {
  /// A stored link whose pairs become pairs of the current link.
  package struct Source: Hashable, Sendable {
    /// The number of the stored link.
    package let link: Int
    /// Whether the first end of the stored link is the second end of the current one.
    package let isReversed: Bool
  }

  package enum Way: Hashable, Sendable {
    /// The link is new.
    case new
    /// Columns or pairs are copied as they are.
    case copied
    /// The pairs are collected from their sources, checked, ordered and reduced, and then stored in the new way.
    case collected
  }

  package let link: LinkList.Link
  package let sources: [Source]
  package let way: Way
  /// Whether objects of the first end, or of the second, may have more stored partners than the current model allows.
  let mayReduceFirst: Bool
  let mayReduceSecond: Bool
  /// Whether a stored pair may be with an object that is deleted, or that cannot be at its end any more.
  let isFiltered: Bool

  /// Whether pairs may be lost that both objects could have.
  var mayLose: Bool { mayReduceFirst || mayReduceSecond }
}

/// A part of the stored model that the current model does not have.
package struct Loss: Hashable, Sendable {
  package enum Subject: Hashable, Sendable {
    /// The rows of an entity.
    case rows
    /// The values of an attribute, by its number.
    case values(Int)
    /// The pairs of a relationship, by its number.
    case pairs(Int)
  }

  /// The stored entity.
  package let entity: Int
  package let subject: Subject
  /// The stored entities whose rows lose something: the entity itself, and descendants.
  package let owners: [Int]
  /// The stored entities of the lost partners; empty if no pairs are lost. Only pairs of two kept objects count.
  package var partners: [Int] = []
  /// Whether the current model allows the loss.
  package let isConsented: Bool
  /// The name of the new entity or property that it may have become; nil if none is likely.
  package let likelyName: String?
  /// The name of the current property that it became, and that cannot take the values; nil if there is none.
  package let replacement: String?
  /// The current property that shows the other pairs of the relationship; nil if the relationship is gone.
  package var remaining: RelationshipNumber?

  /// The order of losses: by entity, then by property.
  var rank: [Int] {
    switch subject {
    case .rows: [entity, -1] + owners
    case .values(let number), .pairs(let number): [entity, number, isConsented ? 0 : 1] + owners + partners
    }
  }
}

extension RowMove {
  fileprivate func isIdentity(from stored: Model, to current: Model) -> Bool {
    let (old, new) = (stored.entities[origin], current.entities[entity])
    return old.name == new.name && old.columns.count == new.columns.count
      && columns.enumerated().allSatisfy { number, source in
        guard case .stored(let stored) = source, stored.isPlain else { return false }
        return old.columns[stored.column].name == new.columns[number].name
      }
  }
}

extension LinkMove {
  fileprivate func isIdentity(_ storedLinks: LinkList, _ stored: Model, _ current: Model) -> Bool {
    guard way == .copied, let source = sources.first, !source.isReversed else { return false }
    guard let table = link.joinTable, let old = storedLinks.all[source.link].joinTable else { return true }
    return stored.joinTables[old].name == current.joinTables[table].name
  }
}

// MARK: - Places

extension LinkMove {
  /// Whether the stored places of partners among those of an object stay as they are.
  func keepsFirstPlaces(_ stored: LinkList) -> Bool { keepsPlaces(stored, ofSecond: false) }
  /// Whether the stored places of objects among those of a partner stay as they are.
  func keepsSecondPlaces(_ stored: LinkList) -> Bool { keepsPlaces(stored, ofSecond: true) }

  private func keepsPlaces(_ stored: LinkList, ofSecond: Bool) -> Bool {
    guard sources.count == 1, let source = sources.first else { return false }
    let link = stored.all[source.link]
    // The pairs of a link that becomes its own inverse come from both of its ends.
    if self.link.isSymmetric && !link.isSymmetric { return false }
    return link.isSymmetric || source.isReversed == ofSecond ? link.isFirstOrdered : link.isSecondOrdered
  }
}

/// The places that a migration gives to pairs without one.
enum PairPlaces {
  /// The distance between two places. Contexts number in the same way, so that insertions fit in between.
  static let gap: Int64 = 1_024
}

// MARK: - Kept rows

/// The rows of a stored table which all become rows of one current table, so that the table itself may stay.
package struct KeptRows {
  /// The stored root entity.
  package let origin: Entity
  package private(set) var moves: [RowMove] = []
  /// The names of the entities whose rows stay, before and after.
  package private(set) var names: [(from: String, to: String)] = []
  /// The names of stored entities whose rows are deleted.
  package private(set) var removed: [String] = []
  /// Whether rows get a column with the name of their entity.
  package let becomesHierarchy: Bool

  /// - Returns: nil if rows of another table become rows of the current root entity, or rows of the stored one go elsewhere.
  package init?(of root: Entity, in migration: Migration) {
    let (stored, current) = (migration.stored, migration.current)
    guard let number = migration.match.origins[root.index], stored.entities[number].parent == nil else { return nil }
    origin = stored.entities[number]
    if origin.isInHierarchy && !root.isInHierarchy { return nil }
    becomesHierarchy = root.isInHierarchy && !origin.isInHierarchy
    var moved: Set<Int> = []
    for case let move? in migration.rows {
      let isOfTable = current.entities[move.entity].root == root.index
      guard isOfTable == (stored.entities[move.origin].root == number) else { return nil }
      if !isOfTable { continue }
      moves.append(move)
      names.append((stored.name(ofEntity: move.origin), current.name(ofEntity: move.entity)))
      moved.insert(move.origin)
    }
    for entity in origin.subtree where !stored.entities[entity].isAbstract && !moved.contains(entity) {
      removed.append(stored.name(ofEntity: entity))
    }
    if !removed.isEmpty && !origin.isInHierarchy { return nil }
  }
}
