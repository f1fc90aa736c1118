import TrellisSchema

/// A word of the file and where it stands.
struct Located<Value> {
  var value: Value
  let offset: Int

  init(_ value: Value, at offset: Int) {
    self.value = value
    self.offset = offset
  }
}

/// The model as the file declares it, with the places that messages point at. Passes fill in what they establish.
struct Draft {
  var name: Located<String>
  var version: String?
  var doc: String?
  var userInfo: [UserInfoEntry] = []
  var enums: [EnumDraft] = []
  var codableTypes: [Located<String>] = []
  var entities: [EntityDraft] = []
  var foundationPredicates = false

  /// Established by the grammar: keys of one object are unique.
  var entityNumbers: [String: Int] = [:]
  var enumNumbers: [String: Int] = [:]

  /// How messages call a property: `Entity.property`.
  func path(_ entity: Int, _ property: String) -> String { "\(entities[entity].name.value).\(property)" }
}

struct EnumDraft {
  var name: Located<String>
  var rawType: EnumDescription.RawType = .string
  var cases: [CaseDraft] = []
  var unknown: EnumDescription.UnknownPolicy = .reject
  var unknownOffset = 0
  var doc: String?
}

struct CaseDraft {
  var name: Located<String>
  var rawValue: Located<StoredValue>
  var doc: String?
}

struct EntityDraft {
  var name: Located<String>
  var parentName: Located<String>?
  var isAbstract: Located<Bool>?
  var attributes: [AttributeDraft] = []
  var relationships: [RelationshipDraft] = []
  var uniqueKeys: [Located<[Located<String>]>] = []
  var indexes: [Located<[Located<String>]>] = []
  var fetchRequests: [FetchRequestDraft] = []
  var hooks: [LifecycleHook] = []
  var renamedFrom: Located<String>?
  var doc: String?
  var userInfo: [UserInfoEntry] = []

  /// Own properties by name; of two with one name the first.
  var properties: [String: PropertyPlace] = [:]
  /// The parent's number, and the ancestors from the parent up. Established by the pass over parents.
  var parent: Int?
  var ancestors: [Int] = []
}

enum PropertyPlace {
  case attribute(Int)
  case relationship(Int)
}

struct AttributeDraft {
  var name: Located<String>
  /// The type as written, without a question mark.
  var typeName: Located<String>
  /// The attribute's own object; without members for the short form.
  var object: JSONObject
  /// What is known so far: the type after the pass over types, default and rules after theirs.
  var description: AttributeDescription
  /// Whether the type is known, so that later passes can use it.
  var hasType = false

  /// Where a key's value stands, or the attribute's name when the key is absent.
  func place(of key: String) -> Int { object[key]?.value.offset ?? name.offset }
}

struct RelationshipDraft {
  var name: Located<String>
  var object: JSONObject
  var description: RelationshipDescription
  /// The destination's number. Established by the pass over destinations.
  var destination = -1
  /// The other end, when there is one and it matches. Established by the pass over inverses.
  var inverse: RelationshipPlace?

  func place(of key: String) -> Int { object[key]?.value.offset ?? name.offset }
}

struct RelationshipPlace: Hashable {
  let entity: Int
  let index: Int
}

struct FetchRequestDraft {
  var name: Located<String>
  var description: FetchRequestDescription
  var predicate: Located<String>?
  var sort: [Located<String>]
  var prefetch: [Located<String>]
}
