import TrellisModel

/// Hierarchies: four levels under an abstract root, levels that add nothing, `id` declared in the middle. Entities with
/// each kind of history.
let zooModel = ModelDescription(
  name: "Zoo",
  entities: [
    EntityDescription("Puppy", parent: "Dog", attributes: [AttributeDescription("weeks", .int16)]),
    EntityDescription(
      "Animal", isAbstract: true,
      attributes: [
        AttributeDescription("name", .string, keptInHistory: true, sync: .server),
        AttributeDescription("legs", .int16, default: .value(.integer(4)), doc: "How many it has."),
        AttributeDescription("born", .date, optional: true),
        AttributeDescription("mood", .string, transient: true, default: .value(.text("calm"))),
      ],
      relationships: [
        RelationshipDescription("keeper", to: "Keeper", inverse: "animals", optional: true, sync: .replica),
        RelationshipDescription("cage", to: "Cage", inverse: "animals", optional: true),
      ],
      fetchRequests: [
        FetchRequestDescription("named", predicate: "name ==[cd] $name", doc: "Animals of a name."),
        FetchRequestDescription("everyone"),
      ], hooks: LifecycleHook.allCases),
    EntityDescription(
      "Dog", parent: "Animal", attributes: [AttributeDescription("breed", .string, optional: true)],
      relationships: [
        RelationshipDescription("master", to: "Keeper", inverse: "dogs", optional: true),
        RelationshipDescription("rival", to: "Dog", inverse: "rival", optional: true),
      ],
      fetchRequests: [
        FetchRequestDescription("pedigree", predicate: "name ==[cd] $name AND legs > 0", doc: "Dogs of a name."),
        FetchRequestDescription(
          "kept", predicate: "keeper == $keeper OR master IN $in OR rival.name IN[c] $class",
          sort: [.init("rival.legs"), .init("name", descending: true)], limit: 20, offset: 5,
          prefetch: ["keeper.animals", "rival"]),
      ]),
    EntityDescription(
      "Cat", parent: "Animal",
      fetchRequests: [
        FetchRequestDescription(
          "oneOfMany",
          predicate: "legs IN {" + (0..<20).map { "\($0)" }.joined(separator: ", ") + "} AND ("
            + (0..<20).map { "name == 'cat \($0)'" }.joined(separator: " OR ") + " OR name == $name)",
          limit: 3, doc: "Cats of one of many names.")
      ]),
    EntityDescription(
      "Siamese", parent: "Cat", attributes: [AttributeDescription("blue", .bool, transient: true)],
      hooks: [.willSave, .didFetch, .validateUpdate]),
    EntityDescription(
      "Newborn", parent: "Puppy",
      relationships: [RelationshipDescription("siblings", to: "Newborn", inverse: "siblings", toMany: true)]),
    EntityDescription("Runt", parent: "Newborn"),
    EntityDescription(
      "Keeper",
      relationships: [
        RelationshipDescription("animals", to: "Animal", inverse: "keeper", toMany: true, ordered: true),
        RelationshipDescription("dogs", to: "Dog", inverse: "master", toMany: true, ordered: true),
      ],
      fetchRequests: [
        FetchRequestDescription("holding", predicate: "$animal IN animals OR ANY dogs IN $dogs"),
        FetchRequestDescription(
          "busy",
          predicate:
            "animals.@sum.legs > $legs AND SUBQUERY(dogs, $d, $d.breed == $breed AND $d.legs >= 3).@count >= 2 AND "
            + "animals.@count BETWEEN {1, 5} AND NONE animals.born > now() - 3600"),
      ], history: .changes),
    EntityDescription(
      "Cage",
      relationships: [RelationshipDescription("animals", to: "Animal", inverse: "cage", toMany: true, ordered: true)],
      history: .off),
    EntityDescription(
      "Plant", attributes: [AttributeDescription("height", .double)], hooks: [.didInsert], sync: .latest),
    EntityDescription("Tree", parent: "Plant", attributes: [AttributeDescription("id", .int64)]),
    EntityDescription("Oak", parent: "Tree"),
    EntityDescription("Flower", parent: "Plant"),
  ], history: .values, keepHistory: HistoryLimit(days: 30, transactions: 100_000))
