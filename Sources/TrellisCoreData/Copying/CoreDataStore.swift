public import Foundation
public import TrellisModel
public import TrellisStorage

/// A SQLite store of Core Data, whose rows can be copied into a store of Trellis.
///
/// ```swift
/// let old = try CoreDataStore(at: oldURL)
/// let report = try old.copy(to: newURL, model: description)
/// print(report)
/// // copied 1204 × Entry
/// // repaired 27 × Entry.isRead: was null, and took its default (3, 4, 9, …)
/// ```
/// The store is read from a temporary copy of its files, the write-ahead log included. The original is never opened,
/// and nothing is written beside it. The model is the one that the store contains, or a given one.
public final class CoreDataStore {
  /// The place of the store.
  public let url: URL
  /// The identifier of the store, which object URIs have; empty if it has none.
  public var uuid: String { file.uuid }
  /// The model of the store as one of Trellis. Its name is that of the file.
  public var description: ModelDescription { translation.description }
  /// What of the store's model has no counterpart, and what became of it.
  public var notes: [CoreDataNote] { translation.notes }

  private let file: StoreFile
  private let source: CoreDataModel
  private let translation: ModelTranslation

  /// Opens a copy of a store.
  ///
  /// - Parameters:
  ///   - url: The SQLite file. Its log and the folder with its external data are found beside it.
  ///   - model: The `.xcdatamodeld` or `.xcdatamodel` that the store was made with, for stores that do not contain their
  ///     model. Of several versions, the one that fits the tables best is taken.
  /// - Throws: ``CoreDataError``.
  /// - Complexity: linear in the size of the file, which is copied.
  public init(at url: URL, model: URL? = nil) throws {
    self.url = url
    file = try StoreFile(url)
    let name = url.deletingPathExtension().lastPathComponent
    source =
      try model.map { [file] in try Self.version(of: ModelPackage(contentsOf: $0), for: file) } ?? file.cachedModel()
    translation = try ModelTranslation(source, name: name)
  }

  /// Copies all rows into a new store.
  ///
  /// With a model, the rows are first written as the store's own model has them, and then migrated to the given one by
  /// the rules of every migration: names match, former names in `renamedFrom` count, and what the model does not account
  /// for is refused with the line to write. Nothing is at the new place unless everything has succeeded.
  ///
  /// - Parameters:
  ///   - target: The SQLite file to make. Its folder must exist. Beside it, the keys of the rows are written as
  ///     ``CoreDataKeys``.
  ///   - model: The model of the new store; nil for that of the old one.
  ///   - migration: What happens to data that the model does not account for.
  ///   - keepsIncompleteRows: Whether a row is copied although a to-one that is required leads to no row. Otherwise it
  ///     is left out, and so are those that require it.
  ///   - progress: Receives how far the copy is, after each thousand rows. An error that it throws ends the copy.
  /// - Returns: what was copied, repaired, left out and kept.
  /// - Throws: ``CoreDataError``; `StoreError` if the model refuses the migration; errors of `progress`.
  /// - Complexity: linear in the data, and O(*n* log *n*) for indexes and ordered relationships. In memory are some 24
  ///   bytes for each row, and the values of unique keys.
  @discardableResult public func copy(
    to target: URL, model: ModelDescription? = nil, migration: MigrationPolicy = .automatic,
    keepsIncompleteRows: Bool = false, progress: ((CoreDataCopyProgress) throws -> Void)? = nil
  ) throws -> CoreDataCopyReport {
    let place = try CopyPlace(target)
    defer { place.removeFolder() }
    let translation = try typedTranslation(for: model)
    let layout = try StoreLayout(file, translation)
    let findings = FindingCollector()
    let own = try Self.resolved(translation.description)
    let plan = try CopyPlan(file, translation, layout, own, findings, keepsIncompleteRows: keepsIncompleteRows)
    var report = CoreDataCopyReport(
      keys: CoreDataKeys(storeUUID: file.uuid), model: model ?? translation.description)
    try write(plan, to: place.store, &report, progress)
    report.notes = translation.notes + layout.notes
    report.repaired = findings.all.filter { $0.outcome == .repaired }
    report.left = findings.all.filter { $0.outcome == .leftOut }
    report.kept = findings.all.filter { $0.outcome == .kept }
    if let model {
      let resolved = try Self.resolved(model)
      try StoreConfiguration.sqlite(at: place.store, migration: migration).open(resolved).close()
      let match = ModelMatch(from: own, to: resolved)
      for entity in own.entities {
        guard let successor = match.successors[entity.index] else { continue }
        report.keys.rename(plan.sourceName(entity.index), to: resolved.entities[successor].name)
      }
    }
    try report.keys.write(to: CoreDataKeys.file(besides: place.store))
    try place.publish()
    return report
  }

  // MARK: Model

  /// The version of a package that fits a store best: by the names of entities, then by the columns.
  private static func version(of package: ModelPackage, for file: StoreFile) throws -> CoreDataModel {
    let names = Set(file.entityNames.filter { $0.key < StoreFile.firstInternalNumber }.values)
    var best: (misfits: Int, model: CoreDataModel)?
    for version in package.versions.reversed() {
      let translation = try ModelTranslation(version.model, name: package.name)
      let declared = version.model.entities
      let known = Set(declared.map(\.name) + declared.map(\.identity))
      guard !names.isDisjoint(with: known) || names.isEmpty else { continue }
      let layout = try StoreLayout(file, translation)
      let unknown = names.subtracting(known).count
      let missing = declared.count { !names.contains($0.name) && !names.contains($0.identity) }
      let misfits = (unknown + missing) * 1_000 + layout.missingColumns
      if misfits < best?.misfits ?? .max { best = (misfits, version.model) }
    }
    guard let best else {
      throw CoreDataError(
        .otherModel, "\(file.url.path) has none of the entities of the model \(package.name).",
        remedy: "Give the model that the store was made with.")
    }
    return best.model
  }

  /// The translation with the types of transformable attributes, as far as their values tell them.
  private func typedTranslation(for target: ModelDescription?) throws -> ModelTranslation {
    let plain = target == nil ? translation : try ModelTranslation(source, name: target?.name ?? "")
    let layout = try StoreLayout(file, plain)
    let types = TransformableTypes(file)
    var hints: [String: AttributeType] = [:]
    for (number, entity) in plain.entities.enumerated() {
      for (place, attribute) in entity.attributes.enumerated()
      where attribute.source.kind == .transformable && !attribute.source.isTransient {
        guard let table = layout.entities[number].table, let column = layout.entities[number].attributes[place] else {
          continue
        }
        let wanted = target.flatMap { Self.type(of: attribute, in: entity, $0) }
        let declared = attribute.source.customClass.flatMap(AttributeTranslation.type(ofClass:))
        hints["\(entity.source.name).\(attribute.path.joined(separator: "."))"] =
          try types.type(
            ofColumn: column, in: table, isExternal: attribute.source.allowsExternalStorage, wanted: wanted,
            declared: declared) ?? .data
      }
    }
    return try ModelTranslation(source, name: plain.description.name) { entity, attribute in
      hints["\(entity).\(attribute)"]
    }
  }

  /// The type that a model has for an attribute, under its name or under a later one.
  private static func type(
    of attribute: TranslatedAttribute, in entity: TranslatedEntity, _ target: ModelDescription
  ) -> AttributeType? {
    let name = attribute.description.name
    let candidates = target.entities.filter { $0.name == entity.name || $0.renamedFrom.contains(entity.name) }
    for candidate in candidates {
      let found = candidate.attributes.first { $0.name == name || $0.renamedFrom.contains(name) }
      if let type = found?.type, type != .data { return type }
    }
    return nil
  }

  private static func resolved(_ description: ModelDescription) throws(CoreDataError) -> Model {
    do throws(SchemaError) {
      return try Model(description)
    } catch {
      throw CoreDataError(
        .invalidModel, "The model contradicts itself: \(error.description).", remedy: "Correct the model.")
    }
  }

  // MARK: Writing

  private func write(
    _ plan: CopyPlan, to url: URL, _ report: inout CoreDataCopyReport,
    _ progress: ((CoreDataCopyProgress) throws -> Void)?
  ) throws {
    let store = try StoreConfiguration.sqlite(at: url, durability: .relaxed).open(plan.model)
    defer { store.close() }
    guard let store = store as? SQLiteStore else { return }
    var counts: [Int] = []
    var pairs = 0
    try store.load(StoreLineage(nextKey: Int64(plan.totalRows) + 1)) { writer in
      let memberCounts = MemberCounts()
      var rows = RowCopy(plan, to: writer, counting: memberCounts) { count in
        try progress?(CoreDataCopyProgress(rows: count, totalRows: plan.totalRows))
      }
      try rows.run()
      counts = rows.counts
      var pairCopy = PairCopy(plan, to: writer, counting: memberCounts)
      try pairCopy.run()
      memberCounts.tell(plan)
      pairs = pairCopy.count
    }
    try progress?(CoreDataCopyProgress(rows: plan.totalRows, totalRows: plan.totalRows))
    report.pairs = pairs
    for (entity, count) in counts.enumerated() where count > 0 {
      report.rows.append(CoreDataCopyReport.RowCount(entity: plan.sourceName(entity), rows: count))
    }
    for entity in plan.model.entities { report.keys.set(plan.keys(of: entity), of: plan.sourceName(entity.index)) }
  }
}

extension CopyPlan {
  /// The keys of an entity's rows.
  fileprivate func keys(of entity: Entity) -> CoreDataKeys.Rows {
    var rows = CoreDataKeys.Rows(name: entity.name, firstKey: 1)
    guard let index = self.rows[entity.root] else { return rows }
    var isFirst = true
    for place in 0..<index.count where Int(index.originalEntities[place]) == entity.index {
      if isFirst { rows.firstKey = index.keys[place] }
      isFirst = false
      rows.append(index.primaryKeys[place]...index.primaryKeys[place])
    }
    return rows
  }
}

// MARK: - Copy place

/// The folder in which a copy is made, beside its place, and the files that are moved out of it at the end.
private struct CopyPlace {
  private let target: URL
  private let folder: URL
  /// The store while it is made.
  let store: URL

  init(_ target: URL) throws(CoreDataError) {
    self.target = target
    let files = FileManager.default
    let external = target.path + ".external"
    for path in [target.path, external, target.path + "-wal"] where files.fileExists(atPath: path) {
      throw CoreDataError(
        .fileExists, "\(path) exists already.", remedy: "Choose another name, or remove it.")
    }
    folder = target.appendingPathExtension("incoming-\(UUID().uuidString)")
    do {
      try files.createDirectory(at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    } catch {
      throw CoreDataError(
        .inputOutput, "Nothing can be made beside \(target.path).",
        remedy: "Check that the folder exists and may be written to.")
    }
    store = folder.appendingPathComponent(target.lastPathComponent)
  }

  /// Moves the files to their place, the store last.
  func publish() throws(CoreDataError) {
    let pairs = [
      (CoreDataKeys.file(besides: store).path, CoreDataKeys.file(besides: target).path),
      (store.path + ".external", target.path + ".external"), (store.path, target.path),
    ]
    for (source, place) in pairs where FileManager.default.fileExists(atPath: source) {
      do {
        if place == CoreDataKeys.file(besides: target).path { try? FileManager.default.removeItem(atPath: place) }
        try FileManager.default.moveItem(atPath: source, toPath: place)
      } catch {
        throw CoreDataError(
          .inputOutput, "\(place) cannot be written.", remedy: "Check that the folder may be written to.")
      }
    }
  }

  func removeFolder() { try? FileManager.default.removeItem(at: folder) }
}
