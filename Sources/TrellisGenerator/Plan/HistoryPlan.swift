package import TrellisModel

/// The released versions of a model that generated code needs.
package struct FormerVersions: Sendable {
  /// A version whose rows steps of migrations read.
  package struct Version: Sendable {
    let number: Int
    /// The day as `2026-03-02`.
    let released: String
    let description: ModelDescription
    /// The canonical text of the model, as it was released.
    let text: String

    package init(number: Int, released: String, description: ModelDescription, text: String) {
      self.number = number
      self.released = released
      self.description = description
      self.text = text
    }
  }

  /// The checksums of all released versions, in the order of their numbers.
  package var checksums: [String]
  package var versions: [Version] = []

  package init(checksums: [String] = []) { self.checksums = checksums }
}

/// The former versions with their resolved models.
struct HistoryPlan {
  struct Version {
    let number: Int
    let released: String
    let text: String
    let model: Model
  }

  /// The name of the type that contains the versions.
  let name: String
  /// The name of the current model as a member of `ObjectModel`.
  let modelName: String
  let checksums: [String]
  let versions: [Version]

  init(_ former: FormerVersions, of model: Model) throws(GeneratorError) {
    name = model.name.prefix(1).uppercased() + model.name.dropFirst() + "History"
    modelName = ModelPlan.name(of: model)
    checksums = former.checksums
    var versions: [Version] = []
    for version in former.versions {
      do throws(SchemaError) {
        versions.append(
          Version(
            number: version.number, released: version.released, text: version.text,
            model: try Model(version.description)))
      } catch {
        throw GeneratorError("version \(version.number) is no model: \(error.description)")
      }
    }
    self.versions = versions
    guard !versions.isEmpty else { return }
    let types =
      model.description.entities.map(\.className) + model.description.enums.map(\.name)
      + model.description.composites.map(\.name) + model.description.scalars.map(\.name)
    if (types + model.description.codableTypes).contains(name) {
      throw GeneratorError("the types of former versions are in \(name), and the model has a type of this name")
    }
  }

  var needsFoundation: Bool {
    versions.contains { version in
      version.model.description.entities.contains { entity in
        entity.attributes.contains { SwiftType.needsFoundation($0.type) }
      }
        || version.model.description.composites.contains { composite in
          composite.attributes.contains { SwiftType.needsFoundation($0.type) }
        }
    }
  }
}
