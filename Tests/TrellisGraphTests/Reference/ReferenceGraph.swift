/// Objects and their links, written down as plainly as possible: what the runtime has to be like.
///
/// An object is a number. A link to an object that is deleted or was never there is hidden: it reads nil.
struct ReferenceGraph: Equatable {
  typealias ID = Int

  let shapes: Shapes
  private(set) var entities: [ID: String] = [:]
  /// Objects that the next save deletes.
  private(set) var deleted: Set<ID> = []
  /// The partners in each relationship, hidden ones too.
  private(set) var partners: [ID: [Int: [ID]]] = [:]

  init(_ shapes: Shapes) { self.shapes = shapes }

  static func == (left: ReferenceGraph, right: ReferenceGraph) -> Bool { left.readings == right.readings }

  // MARK: Reading

  var living: [ID] { entities.keys.filter { !deleted.contains($0) }.sorted() }

  func isLiving(_ object: ID) -> Bool { entities[object] != nil && !deleted.contains(object) }

  func shapes(of object: ID) -> [Shape] { entities[object].map(shapes.shapes(of:)) ?? [] }

  /// The partners as they are kept, hidden ones too.
  func links(_ object: ID, _ shape: Shape) -> [ID] { partners[object]?[shape.index] ?? [] }

  /// The partners as they read.
  func reading(_ object: ID, _ shape: Shape) -> [ID] { links(object, shape).filter(isLiving) }

  /// Everything that can be read; members without an order in the order of their numbers.
  private var readings: [ID: [Int: [ID]]] {
    var all: [ID: [Int: [ID]]] = [:]
    for object in living {
      all[object] = [:]
      for (index, links) in partners[object] ?? [:] {
        let partners = links.filter(isLiving)
        if !partners.isEmpty { all[object]?[index] = shapes.all[index].isOrdered ? partners : partners.sorted() }
      }
    }
    return all
  }

  // MARK: Changing

  mutating func insert(_ object: ID, _ entity: String) { entities[object] = entity }

  mutating func markDeleted(_ object: ID) { deleted.insert(object) }

  mutating func forget(_ object: ID) {
    entities[object] = nil
    partners[object] = nil
    deleted.remove(object)
  }

  mutating func setLinks(_ object: ID, _ shape: Shape, _ links: [ID]) {
    guard entities[object] != nil else { return }
    partners[object, default: [:]][shape.index] = links.isEmpty ? nil : links
  }
}
