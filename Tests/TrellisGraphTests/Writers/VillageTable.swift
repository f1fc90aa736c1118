@_spi(Generated) import Trellis

/// What every entity of the model has beside its relationships.
protocol Labelled: ManagedObject {
  var label: String { get set }
  var size: Int64 { get set }
}

extension Villager: Labelled {}
extension House: Labelled {}
extension Boat: Labelled {}
extension Emblem: Labelled {}
extension Gear: Labelled {}
extension Region: Labelled {}
extension Band: Labelled {}
extension Craft: Labelled {}
extension Song: Labelled {}
extension Jury: Labelled {}
extension Branch: Labelled {}
extension Leaf: Labelled {}

/// What their columns have in common.
protocol SizedColumns: EntityColumns {
  var size: AttributePath<Int64> { get }
}

extension Villager.Columns: SizedColumns {}
extension Chief.Columns: SizedColumns {}
extension House.Columns: SizedColumns {}
extension Boat.Columns: SizedColumns {}
extension Emblem.Columns: SizedColumns {}
extension Gear.Columns: SizedColumns {}
extension Region.Columns: SizedColumns {}
extension Band.Columns: SizedColumns {}
extension Craft.Columns: SizedColumns {}
extension Song.Columns: SizedColumns {}
extension Jury.Columns: SizedColumns {}
extension Branch.Columns: SizedColumns {}
extension Leaf.Columns: SizedColumns {}

/// The generated classes of the model with several contexts, by entity.
enum VillageTable {
  static func access(_ entity: String) throws -> EntityAccess {
    guard let found = all[entity] else { throw EntityTable.UnknownEntity(name: entity) }
    return found
  }

  nonisolated(unsafe) private static let all: [String: EntityAccess] = [
    "Villager": entry(Villager.all) { Villager(in: $0) },
    "Chief": entry(Chief.all) { Chief(in: $0) },
    "House": entry(House.all) { House(in: $0) },
    "Boat": entry(Boat.all) { Boat(in: $0) },
    "Emblem": entry(Emblem.all) { Emblem(in: $0) },
    "Gear": entry(Gear.all) { Gear(in: $0) },
    "Region": entry(Region.all) { Region(in: $0) },
    "Band": entry(Band.all) { Band(in: $0) },
    "Craft": entry(Craft.all) { Craft(in: $0) },
    "Song": entry(Song.all) { Song(in: $0) },
    "Jury": entry(Jury.all) { Jury(in: $0) },
    "Branch": entry(Branch.all) { Branch(in: $0) },
    "Leaf": entry(Leaf.all) { Leaf(in: $0) },
  ]

  private static func entry<Columns: SizedColumns>(
    _ everything: FetchRequest<Columns>, _ insert: @escaping (ManagedObjectContext) -> Columns.Object
  ) -> EntityAccess {
    var access = EntityTable.entry(everything, insert)
    access.updateSizes = { context, size in _ = try context.updateAll(everything) { $0.size.set(Int64(size)) } }
    access.deleteOfSize = { context, size in _ = try context.deleteAll(everything.where { $0.size == Int64(size) }) }
    return access
  }
}
