package import TrellisModel
package import TrellisRuntime

extension ObjectModel {
  /// A model without generated classes. Its objects are ``DynamicObject``s.
  ///
  /// ```swift
  /// let container = try PersistentContainer(model: ObjectModel(dynamic: description), store: .sqlite(at: url))
  /// let tag = try container.newContext().insert("Tag", ["name": .text("sea")])
  /// ```
  /// Hooks that the model lists do not run.
  ///
  /// - Parameters:
  ///   - description: The model, such as the one that a store carries.
  ///   - checksum: The checksum of the description if it is known, which saves computing it again.
  package init(dynamic description: ModelDescription, checksum: String? = nil) {
    self.init(
      description, sharedClasses: description.entities.indices.map(EntityClasses.entityClass),
      checksum: checksum ?? description.checksum)
  }
}
