package import TrellisModel
import TrellisModelFile

/// A schema as a model, with the place that each table and column has in it.
package struct AdoptedModel: Sendable {
  package let description: ModelDescription
  /// What has no counterpart, in the order of the tables.
  package let notes: [AdoptionNote]
  /// The entities, in the order of the model.
  package let entities: [AdoptedEntity]
  /// The join tables.
  package let joins: [AdoptedJoin]

  /// - Parameter name: The name of the model; nil for one from the name of the database.
  /// - Throws: ``AdoptionError`` if there are no tables, or they have no counterpart.
  package init(_ schema: SourceSchema, name: String? = nil, isExact: Bool = false) throws(AdoptionError) {
    guard !schema.tables.isEmpty else {
      let why = schema.notes.isEmpty ? "has no tables" : "has no tables that could be entities"
      throw AdoptionError(.noTables, "The database \(schema.name) \(why).", remedy: "Give a database with tables.")
    }
    var translation = SchemaTranslation(schema, isExact: isExact)
    translation.run()
    for draft in translation.drafts {
      let count = draft.description.attributes.count + draft.description.relationships.count
      guard count > Limits.properties else { continue }
      throw AdoptionError(
        .limit,
        "\(draft.table.name) has \(draft.table.columns.count) columns, and would be an entity with \(count) attributes and "
          + "relationships; one may have \(Limits.properties).",
        remedy: "Adopt a copy in which the columns are those of several tables, or the rows of one.")
    }
    let modelName = name ?? Naming.plainEntity(schema.name)
    description = ModelDescription(
      name: ReservedNames.swiftWords.contains(modelName) ? modelName + "Model" : modelName,
      enums: translation.enums, entities: translation.drafts.map(\.description))
    notes = translation.notes + schema.notes
    entities = translation.drafts.map(\.plan)
    joins = translation.joins
  }

  /// The text of the model file, which the checks of model files accept.
  ///
  /// - Throws: ``AdoptionError``.
  package func text() throws(AdoptionError) -> String {
    let text = description.canonicalJSON()
    let result = ModelFile.parse(Array(text.utf8), path: "\(description.name).model.json")
    guard result.hasErrors else { return text }
    let first = result.diagnostics.first { $0.severity == .error }?.message ?? "it has errors."
    let isOfName = first.contains("'\(description.name)'")
    throw AdoptionError(
      .invalidModel, "The schema has no counterpart as a model: \(first)",
      remedy: isOfName
        ? "Give the model another name with --name." : "Adopt a copy in which what is named there is another.")
  }
}

/// Where the objects of an entity come from.
package struct AdoptedEntity: Sendable {
  package var name: String
  package var table: String
  package var attributes: [Attribute] = []
  package var references: [Reference] = []

  package struct Attribute: Sendable {
    package var name: String
    package var column: String
    package var form: ValueForm
    package var isRequired: Bool
  }

  package struct Reference: Sendable {
    package var name: String
    package var key: SourceForeignKey
    package var isRequired: Bool
  }
}

/// Where the pairs of a many-to-many come from.
package struct AdoptedJoin: Sendable {
  package var table: String
  /// The reference to the owner of the relationship, and that to its member.
  package var owner: SourceForeignKey
  package var member: SourceForeignKey
  package var entity: String
  package var relationship: String
}
