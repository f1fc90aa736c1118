@_spi(Generated) import Trellis

/// How the tests make and find objects of one entity.
struct EntityAccess {
  let insert: (ManagedObjectContext) -> ManagedObject
  let find: (ManagedObjectContext, Int64) throws -> ManagedObject?
  /// Finds an object in memory only.
  let registered: (ManagedObjectContext, Int64) -> ManagedObject?
  let fetch: (ManagedObjectContext) throws -> [ManagedObject]
  /// Changes of all objects at once, where the entity has a size.
  var updateSizes: (ManagedObjectContext, Int) throws -> Void = { _, _ in }
  var deleteOfSize: (ManagedObjectContext, Int) throws -> Void = { _, _ in }
}

/// The generated classes of the model, by entity.
enum EntityTable {
  static func access(_ entity: String) throws -> EntityAccess {
    guard let found = all[entity] else { throw UnknownEntity(name: entity) }
    return found
  }

  struct UnknownEntity: Error { let name: String }

  nonisolated(unsafe) private static let all: [String: EntityAccess] = [
    "OneLeft": entry(OneLeft.all) { OneLeft(in: $0) },
    "OneRight": entry(OneRight.all) { OneRight(in: $0) },
    "ManyParent": entry(ManyParent.all) { ManyParent(in: $0) },
    "ManyChild": entry(ManyChild.all) { ManyChild(in: $0) },
    "PeerLeft": entry(PeerLeft.all) { PeerLeft(in: $0) },
    "PeerRight": entry(PeerRight.all) { PeerRight(in: $0) },
    "Holder": entry(Holder.all) { Holder(in: $0) },
    "Target": entry(Target.all) { Target(in: $0) },
    "Link": entry(Link.all) { Link(in: $0) },
    "Tree": entry(Tree.all) { Tree(in: $0) },
    "Mesh": entry(Mesh.all) { Mesh(in: $0) },
    "Arrow": entry(Arrow.all) { Arrow(in: $0) },
    "OneLeftKind": entry(OneLeftKind.all) { OneLeftKind(in: $0) },
    "OneRightKind": entry(OneRightKind.all) { OneRightKind(in: $0) },
    "ManyParentKind": entry(ManyParentKind.all) { ManyParentKind(in: $0) },
    "ManyChildKind": entry(ManyChildKind.all) { ManyChildKind(in: $0) },
    "PeerLeftKind": entry(PeerLeftKind.all) { PeerLeftKind(in: $0) },
    "PeerRightKind": entry(PeerRightKind.all) { PeerRightKind(in: $0) },
    "HolderKind": entry(HolderKind.all) { HolderKind(in: $0) },
    "TargetKind": entry(TargetKind.all) { TargetKind(in: $0) },
    "LinkKind": entry(LinkKind.all) { LinkKind(in: $0) },
    "TreeKind": entry(TreeKind.all) { TreeKind(in: $0) },
    "MeshKind": entry(MeshKind.all) { MeshKind(in: $0) },
    "ArrowKind": entry(ArrowKind.all) { ArrowKind(in: $0) },
    "Person": entry(Person.all) { Person(in: $0) },
    "Manager": entry(Manager.all) { Manager(in: $0) },
    "Director": entry(Director.all) { Director(in: $0) },
    "Project": entry(Project.all) { Project(in: $0) },
    "BigProject": entry(BigProject.all) { BigProject(in: $0) },
    "Album": entry(Album.all) { Album(in: $0) },
    "Track": entry(Track.all) { Track(in: $0) },
    "Singer": entry(Singer.all) { Singer(in: $0) },
    "Cover": entry(Cover.all) { Cover(in: $0) },
    "Owner": entry(Owner.all) { Owner(in: $0) },
    "Bead": entry(Bead.all) { Bead(in: $0) },
    "Crate": entry(Crate.all) { Crate(in: $0) },
    "Item": entry(Item.all) { Item(in: $0) },
    "Folder": entry(Folder.all) { Folder(in: $0) },
    "Sheet": entry(Sheet.all) { Sheet(in: $0) },
    "Letter": entry(Letter.all) { Letter(in: $0) },
    "Scrap": entry(Scrap.all) { Scrap(in: $0) },
    "Shelf": entry(Shelf.all) { Shelf(in: $0) },
    "Mark": entry(Mark.all) { Mark(in: $0) },
    "Pet": entry(Pet.all) { Pet(in: $0) },
  ]

  static func entry<Columns: EntityColumns>(
    _ everything: FetchRequest<Columns>, _ insert: @escaping (ManagedObjectContext) -> Columns.Object
  ) -> EntityAccess {
    EntityAccess(
      insert: insert, find: { try $0.object(with: ObjectID<Columns.Object>($1)) },
      registered: { $0.registeredObject(with: ObjectID<Columns.Object>($1)) }, fetch: { try $0.fetch(everything) })
  }
}
