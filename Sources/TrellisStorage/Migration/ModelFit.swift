package import TrellisModel

/// Reads what a store says of the models that it has and had. Each function reads only what it answers, because most
/// openings need the checksum and nothing else.
package protocol StoredModels {
  /// The store's name in messages.
  var storeName: String { get }
  /// - Throws: ``StoreError`` if this version of Trellis cannot read the store.
  func checksum() throws(StoreError) -> String
  func nameAndSignature() throws(StoreError) -> (name: String, signature: String)
  /// The facts of a model that the content of such a store depends on.
  func signature(of model: Model) -> String
  /// The text of the store's model.
  func text() throws(StoreError) -> String
  /// Whether the store has or had a model.
  func hasHad(_ checksum: String) throws(StoreError) -> Bool
  /// The checksums of the models that the store had, and of its own.
  func checksums() throws(StoreError) -> [String]
  /// The version of the newest model, as its model file has it.
  func newestVersion() throws(StoreError) -> String?
  /// Whether programs with a former model of the store can go on using it, because its models since then only add to it.
  func isOpen(toFormer model: Model) throws(StoreError) -> Bool
  /// Whether a model is a newer one that waits to become the store's.
  func isWaiting(_ model: Model) throws(StoreError) -> Bool
}

extension StoredModels {
  package func signature(of model: Model) -> String { model.storageSignature }

  package func isOpen(toFormer model: Model) throws(StoreError) -> Bool { false }

  package func isWaiting(_ model: Model) throws(StoreError) -> Bool { false }

  /// The store's model.
  func model(_ checksum: String) throws(StoreError) -> Model {
    try StoredModelReading.model(try text(), checksum: checksum, of: storeName)
  }

  /// The store's model.
  package func model() throws(StoreError) -> Model { try model(try checksum()) }
}

/// How a store's model relates to the program's.
package enum ModelFit {
  /// The stored data is valid for the program's model as it is. The checksum is that of the store's model.
  case fits(checksum: String)
  /// The program's model is a former one of the store, whose model only adds to it.
  case isExpanded
  case differs(Migration)

  /// - Throws: ``StoreError``: `otherModel` and `newerModel`; `damaged` and others if the store cannot be read.
  package init(of model: Model, to stored: some StoredModels) throws(StoreError) {
    // The same model has the same layout, so usually only the checksum has to be read.
    let checksum = try stored.checksum()
    if TextBytes.areEqual(checksum, model.checksum) {
      self = .fits(checksum: checksum)
      return
    }
    let (name, signature) = try stored.nameAndSignature()
    let current = stored.signature(of: model)
    let isSameLayout = TextBytes.areEqual(signature, current)
    guard TextBytes.areEqual(name, model.name) else { throw OtherModel(name, signature, model).error(stored.storeName) }
    // A model that the store had earlier must not replace its newer model.
    var isFormerModel = try stored.hasHad(model.checksum)
    if isFormerModel, try stored.isWaiting(model) { isFormerModel = false }
    if isFormerModel && !isSameLayout {
      guard try stored.isOpen(toFormer: model) else { throw try Self.newerModel(stored) }
      self = .isExpanded
      return
    }
    let migration = Migration(from: try stored.model(checksum), to: model)
    if migration.isIdentity, TextBytes.areEqual(stored.signature(of: migration.stored), current) {
      self = .fits(checksum: checksum)
      return
    }
    if isFormerModel { throw try Self.newerModel(stored) }
    self = .differs(migration)
  }

  private static func newerModel(_ stored: some StoredModels) throws(StoreError) -> StoreError {
    let version = try stored.newestVersion()
    return StoreError(
      .newerModel,
      "\(stored.storeName) has been migrated from this program's model to a newer one"
        + "\(version.map { ", version \($0)" } ?? "").",
      remedy: "Update this program, or open a copy from before. \(Self.adviceToNewerProgram)")
  }

  /// What to write if the program is the newer one: its model is exactly one that the store had before.
  package static let adviceToNewerProgram =
    "If this program is the newer one, write another \"version\" in its model file."
}

// MARK: - Other model

/// The refusal of a store whose model has another name. A model that gets another name keeps its former name in the
/// model file, because models that are stored alike by accident must not open each other's stores.
package struct OtherModel {
  private let name: String
  private let current: String
  /// Whether the models may be the same under two names: at least half of what is stored is in both.
  private let isRelated: Bool

  /// - Parameters:
  ///   - name: the name of the store's model.
  ///   - signature: the storage signature of the store's model.
  ///   - model: the program's model.
  package init(_ name: String, _ signature: String, _ model: Model) {
    self.name = name
    current = model.name
    let facts = signature.split(separator: "\n")
    let known = Set(model.storageSignature.split(separator: "\n"))
    isRelated = facts.count(where: known.contains) * 2 >= facts.count
  }

  /// - Parameter store: the store's name, as the start of a sentence.
  package func message(_ store: String) -> String { "\(store) has the model \(name), and this program \(current)" }

  /// The way out, as the end of a sentence.
  package var remedy: String {
    "open it with \(name)"
      + (isRelated ? ", or write \"model\": \"\(name)\" in the model file if it is the same model" : "")
  }

  func error(_ store: String) -> StoreError {
    StoreError(.otherModel, message(store) + ".", remedy: remedy.prefix(1).uppercased() + remedy.dropFirst() + ".")
  }
}

// MARK: - Migration need

/// What a store needs before a program can use it.
package struct MigrationNeed {
  package let migration: Migration
  package let steps: [CodedStep]

  /// Whether nothing in the store has to change.
  package var isIdentity: Bool { steps.isEmpty && migration.isIdentity }

  private init(_ migration: Migration, _ steps: [CodedStep]) {
    self.migration = migration
    self.steps = steps
  }

  /// Nil if the store can be used as it is.
  package init?(
    of model: Model, _ policy: MigrationPolicy, _ fit: ModelFit, _ stored: some StoredModels
  ) throws(StoreError) {
    switch fit {
    case .isExpanded: return nil
    case .fits(let checksum):
      // Data may have to change even if it is stored as before.
      if policy.steps.isEmpty || TextBytes.areEqual(checksum, model.checksum) { return nil }
      let former = try stored.checksums()
      if former.contains(model.checksum) { return nil }
      let steps = try policy.steps(for: checksum, former: former, to: model)
      if steps.isEmpty { return nil }
      self.init(Migration(from: try stored.model(checksum), to: model), steps)
    case .differs(let migration):
      if policy.steps.isEmpty {
        self.init(migration, [])
        return
      }
      self.init(
        migration, try policy.steps(for: migration.stored.checksum, former: try stored.checksums(), to: model))
    }
  }

  /// What a reader of the plan is told of: a store that can be used as it is, but whose rows may break rules, as well.
  ///
  /// - Returns: nil if there is nothing to tell.
  package static func told(
    of model: Model, _ policy: MigrationPolicy, _ stored: some StoredModels
  ) throws(StoreError) -> MigrationNeed? {
    let fit = try ModelFit(of: model, to: stored)
    if let need = try MigrationNeed(of: model, policy, fit, stored) { return need }
    guard case .fits(let checksum) = fit, !TextBytes.areEqual(checksum, model.checksum) else { return nil }
    if try stored.hasHad(model.checksum) { return nil }
    let migration = Migration(from: try stored.model(checksum), to: model)
    return migration.isTold ? MigrationNeed(migration, []) : nil
  }
}
