import TrellisModel

/// The model of the cases, with every kind of relationship, every type of attribute and a hierarchy.
enum ConformanceModel {
  static let description = ModelDescription(
    name: "Conformance",
    entities: [author, profile, book, tag, shelf, animal, dog, puppy, cat, sample, node, leaf, crate])

  private static let author = EntityDescription(
    "Author",
    attributes: [
      AttributeDescription("name", .string), AttributeDescription("email", .string, optional: true),
      AttributeDescription("rating", .double, optional: true), AttributeDescription("born", .date, optional: true),
      AttributeDescription("active", .bool),
    ],
    relationships: [
      RelationshipDescription(
        "books", to: "Book", inverse: "author", deleteRule: .cascade, toMany: true, ordered: true),
      RelationshipDescription("profile", to: "Profile", inverse: "author", optional: true),
      RelationshipDescription("friends", to: "Author", inverse: "friends", toMany: true),
      RelationshipDescription("shelves", to: "Shelf", inverse: "keeper", deleteRule: .noAction, toMany: true),
      RelationshipDescription("pets", to: "Animal", inverse: "owner", toMany: true),
      RelationshipDescription("visited", to: "Shelf", inverse: "visitors", deleteRule: .noAction, toMany: true),
    ],
    uniqueKeys: [["email"]])

  private static let profile = EntityDescription(
    "Profile", attributes: [AttributeDescription("bio", .string)],
    relationships: [RelationshipDescription("author", to: "Author", inverse: "profile")])

  private static let book = EntityDescription(
    "Book",
    attributes: [
      AttributeDescription("title", .string, searchable: true), AttributeDescription("pages", .int32, optional: true),
      AttributeDescription("price", .decimal, optional: true), AttributeDescription("edition", .int64, optional: true),
      AttributeDescription("cover", .data, optional: true),
      AttributeDescription("picture", .data, optional: true, external: true),
    ],
    relationships: [
      RelationshipDescription("author", to: "Author", inverse: "books", optional: true),
      RelationshipDescription("tags", to: "Tag", inverse: "books", toMany: true, ordered: true),
      RelationshipDescription("sequel", to: "Book", optional: true),
    ],
    uniqueKeys: [["title", "edition"]], indexes: [IndexDescription([IndexDescription.Element("pages")])])

  private static let tag = EntityDescription(
    "Tag", attributes: [AttributeDescription("name", .string, searchable: true)],
    relationships: [RelationshipDescription("books", to: "Book", inverse: "tags", toMany: true, ordered: true)],
    uniqueKeys: [["name"]])

  private static let shelf = EntityDescription(
    "Shelf", attributes: [AttributeDescription("label", .string)],
    relationships: [
      RelationshipDescription("keeper", to: "Author", inverse: "shelves", optional: true),
      RelationshipDescription("contents", to: "Book", toMany: true),
      RelationshipDescription("visitors", to: "Author", inverse: "visited", deleteRule: .noAction, toMany: true),
    ])

  private static let node = EntityDescription(
    "Node", attributes: [AttributeDescription("name", .string)],
    relationships: [
      RelationshipDescription("parent", to: "Node", inverse: "children", optional: true),
      RelationshipDescription("children", to: "Node", inverse: "parent", deleteRule: .cascade, toMany: true),
      RelationshipDescription("leaves", to: "Leaf", inverse: "node", deleteRule: .cascade, toMany: true),
      RelationshipDescription("twin", to: "Node", inverse: "twin", optional: true),
    ])

  private static let leaf = EntityDescription(
    "Leaf",
    relationships: [
      RelationshipDescription("node", to: "Node", inverse: "leaves", optional: true),
      RelationshipDescription("crate", to: "Crate", inverse: "leaves", optional: true),
    ])

  private static let crate = EntityDescription(
    "Crate", attributes: [AttributeDescription("label", .string)],
    relationships: [RelationshipDescription("leaves", to: "Leaf", inverse: "crate", toMany: true, ordered: true)])

  private static let animal = EntityDescription(
    "Animal", isAbstract: true,
    attributes: [
      AttributeDescription("name", .string, searchable: true), AttributeDescription("chip", .int64, optional: true),
    ],
    relationships: [RelationshipDescription("owner", to: "Author", inverse: "pets", optional: true)],
    uniqueKeys: [["chip"]])

  private static let dog = EntityDescription(
    "Dog", parent: "Animal", attributes: [AttributeDescription("breed", .string, optional: true, searchable: true)],
    uniqueKeys: [["breed", "name"]])

  private static let puppy = EntityDescription(
    "Puppy", parent: "Dog", attributes: [AttributeDescription("weeks", .int16, optional: true)])

  private static let cat = EntityDescription(
    "Cat", parent: "Animal", attributes: [AttributeDescription("lives", .int16, optional: true)])

  private static let sample = EntityDescription(
    "Sample",
    attributes: AttributeType.scalars.map { AttributeDescription("the_\($0.spelling)", $0, optional: true) } + [
      AttributeDescription("the_list", .array(.string), optional: true), AttributeDescription("required", .int64),
    ])
}
