import TrellisModel
package import TrellisStorage

/// The keys of a document, and its limits.
enum DocumentFormat {
  /// The newest document format that this version of Trellis supports.
  static let number: Int64 = 1
  /// The maximum number of bytes of a document, for reading and writing.
  static let maximumSize = 1 << 30

  /// Keys of the document.
  static let format = "trellis"
  static let model = "model"
  static let version = "version"
  static let checksum = "checksum"
  static let nextKey = "nextKey"
  static let storage = "storage"
  static let entities = "entities"
  static let pairs = "pairs"
  static let description = "description"
  static let features = "features"
  static let models = "models"

  /// Keys of the features.
  static let compatible = "compatible"
  static let readOnlyCompatible = "readOnlyCompatible"
  static let incompatible = "incompatible"

  /// The time when a former model was replaced.
  static let replaced = "replaced"

  /// Keys of each object, in addition to its properties.
  static let key = "_key"
  static let rowVersion = "_version"

  /// Keys of a join table pair.
  static let from = "from"
  static let to = "to"
  static let place = "place"
  static let inversePlace = "inversePlace"
}

// MARK: - Document layout

/// The names and value forms of a model's rows and pairs in a document, computed once.
final class DocumentLayout: Sendable {
  /// A column's name in the document and the form of its values.
  struct Field: Sendable {
    let name: String
    /// The name as a key: quoted, followed by a colon and a space.
    let keyBytes: [UInt8]
    let form: ValueForm
    let isOptional: Bool
    let property: Int
  }

  let layout: Layout
  /// The fields of each entity, in the order of its columns.
  let fields: [[Field]]
  /// The positions of each entity's fields, by name.
  let places: [[String: Int]]
  /// The folder of external storage. Nil if the model has none.
  let folder: ExternalFolder?
  /// The name of each join table, such as `EmotionDiary.tags`.
  let tableNames: [String]

  var model: Model { layout.model }

  /// - Throws: ``StoreError`` if the model's names cannot be names in a document.
  init(_ model: Model, _ folder: ExternalFolder? = nil) throws(StoreError) {
    layout = Layout(model)
    self.folder = folder
    fields = model.entities.map { entity in entity.columns.map { Self.field($0, entity, model) } }
    var places: [[String: Int]] = []
    for (entity, fields) in zip(model.entities, fields) { places.append(try Self.places(of: fields, entity)) }
    self.places = places
    tableNames = model.joinTables.map { table in
      let entity = model.entities[table.first.entity]
      return "\(entity.name).\(entity.properties[table.first.property].name)"
    }
  }

  private static func field(_ column: Column, _ entity: Entity, _ model: Model) -> Field {
    let property = entity.properties[column.property]
    var name = property.name
    if case .order = column.content { name = "_\(name)_order" }
    var keyBytes: [UInt8] = []
    keyBytes.appendQuoted(name)
    keyBytes += ": ".utf8
    return Field(
      name: name, keyBytes: keyBytes, form: ValueForm(column, property, model), isOptional: column.isOptional,
      property: property.index)
  }

  private static func places(of fields: [Field], _ entity: Entity) throws(StoreError) -> [String: Int] {
    var places: [String: Int] = [:]
    for (place, field) in fields.enumerated() {
      let isTaken = field.name == DocumentFormat.key || field.name == DocumentFormat.rowVersion
      guard places.updateValue(place, forKey: field.name) == nil, !isTaken else {
        throw StoreError(
          .limit, "A JSON document cannot keep \(entity.name).\(field.name): the name is taken by a key of its own.",
          remedy: "Choose another name in the model.", entity: entity.name, properties: [field.name])
      }
    }
    return places
  }
}

// MARK: - Document lineage

extension DocumentLineage.FormerModel {
  /// The model in the form that all stores share.
  var transferred: StoreLineage.FormerModel {
    StoreLineage.FormerModel(
      checksum: checksum, version: version, replaced: replaced, json: String(decoding: description, as: UTF8.self))
  }

  init(_ model: StoreLineage.FormerModel) {
    self.init(
      checksum: model.checksum, version: model.version, replaced: model.replaced, description: Array(model.json.utf8))
  }
}

/// The features that a document uses, and the models that it had before.
struct DocumentLineage: Sendable {
  /// A former model of the document.
  struct FormerModel: Sendable {
    var checksum: String
    var version: String?
    /// The time when the model was replaced, in microseconds since 1970. Nil if it is not recorded.
    var replaced: Int64?
    /// The model description, as it was written in the document.
    var description: [UInt8]
  }

  /// The features in the document when it was opened.
  var features = StoreFeatures()
  /// The former models, the newest last.
  var former: [FormerModel] = []

  /// Notes the versions of steps that the document does not need any more.
  mutating func pass(_ steps: [CodedStep]) {
    for step in steps where !former.contains(where: { $0.checksum == step.checksum }) {
      former.append(FormerModel(checksum: step.checksum, description: Array(step.text.utf8)))
    }
  }

  /// The features to write.
  var writtenFeatures: StoreFeatures {
    var features = features
    if !former.isEmpty { features.compatible.insert(StoreFeatures.models) }
    return features
  }
}

// MARK: - Document options

/// The options for opening a document.
package struct DocumentOptions: Sendable {
  package var durability: Durability
  package var isReadOnly: Bool
  /// The maximum number of bytes of external data in the document.
  package var largestInRow: Int
  /// What happens to a document that was made with a former version of the model.
  package var migration: MigrationPolicy
  /// Follows a migration. Nil if nothing does.
  package var observer: MigrationObserver?

  package init(
    durability: Durability = .durable, readOnly: Bool = false,
    largestInRow: Int = ExternalFolder.usualLargestInRow, migration: MigrationPolicy = .automatic
  ) {
    self.migration = migration
    self.durability = durability
    isReadOnly = readOnly
    self.largestInRow = largestInRow
  }
}
