import TrellisSchema

/// A value of the file with its offset.
struct Located<Value> {
  var value: Value
  let offset: Int

  init(_ value: Value, at offset: Int) {
    self.value = value
    self.offset = offset
  }
}

/// The model as declared in the file, with the offsets that messages refer to. Each pass fills in its results.
struct Draft {
  var name: Located<String>
  var version: String?
  var doc: String?
  var userInfo: [UserInfoEntry] = []
  var enums: [EnumDraft] = []
  var codableTypes: [Located<String>] = []
  var entities: [EntityDraft] = []
  var foundationPredicates = false

  /// Set by the grammar: keys of one object are unique.
  var entityNumbers: [String: Int] = [:]
  var enumNumbers: [String: Int] = [:]

  /// The name of a property in messages: `Entity.property`.
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

  /// The entity's own properties by name. Of two with the same name, the first.
  var properties: [String: PropertyPlace] = [:]
  /// The number of the parent, and the ancestors from the parent up. Set by the pass over parents.
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
  /// The object that declares the attribute; empty for the short form.
  var object: JSONObject
  /// The description so far: the pass over types sets the type, later passes set default and rules.
  var description: AttributeDescription
  /// Whether the type is valid, so that later passes can use it.
  var hasType = false

  /// The offset of a key's value, or of the attribute's name if the key is absent.
  func place(of key: String) -> Int { object[key]?.value.offset ?? name.offset }
}

struct RelationshipDraft {
  var name: Located<String>
  var object: JSONObject
  var description: RelationshipDescription
  /// The number of the destination. Set by the pass over destinations.
  var destination = -1
  /// The inverse; nil if there is none or it does not match. Set by the pass over inverses.
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
