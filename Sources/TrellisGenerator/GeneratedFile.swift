public import TrellisModel

/// The Swift file of a model: classes, enums, and the description from which the runtime creates stores.
///
/// ```swift
/// let file = try GeneratedFile(description, modelFileName: "Diary.model.json")
/// print(file.name)   // Diary.trellis.swift
/// ```
public struct GeneratedFile: Hashable, Sendable {
  /// The file's name, which depends only on the model file's name.
  public let name: String
  public let text: String

  /// Generates the Swift code of a model.
  ///
  /// The code depends only on the arguments: the same model always gives the same code.
  ///
  /// - Parameters:
  ///   - description: The model, as declared in its file.
  ///   - modelFileName: The name of the model file without its folder, for the first line.
  ///   - foundationPredicates: Whether classes have a key path table, which `#Predicate` needs.
  /// - Throws: ``GeneratorError`` if the description is not a valid model or has names that Swift does not accept. The
  ///   checks on model files find these errors earlier, with their position in the file.
  /// - Complexity: linear in the length of the code.
  public init(
    _ description: ModelDescription, modelFileName: String, foundationPredicates: Bool = false
  ) throws(GeneratorError) {
    name = Self.name(forModelFile: modelFileName)
    text = try generate(
      description, modelFileName: modelFileName, foundationPredicates: foundationPredicates)
  }

  /// `Diary.trellis.swift` for `Diary.model.json`.
  public static func name(forModelFile name: String) -> String {
    let ending = ".model.json"
    return (name.hasSuffix(ending) ? String(name.dropLast(ending.count)) : name) + ".trellis.swift"
  }
}

/// Generates the Swift code of a model. See ``GeneratedFile``.
public func generate(
  _ description: ModelDescription, modelFileName: String, foundationPredicates: Bool = false
) throws(GeneratorError) -> String {
  try generate(
    description, modelFileName: modelFileName, foundationPredicates: foundationPredicates, history: FormerVersions())
}

/// As the other, with the types of former versions.
package func generate(
  _ description: ModelDescription, modelFileName: String, foundationPredicates: Bool, history: FormerVersions
) throws(GeneratorError) -> String {
  try generate(
    description, modelFileName: modelFileName, foundationPredicates: foundationPredicates, history: history, files: 1
  ).joined()
}

/// Generates the Swift code of a model in several files.
///
/// - Parameter files: The number of files, which the caller knows before it knows the model; nil for as many as the
///   entities need. If there are too few of them, they have more entities; those that are not needed have none.
/// - Returns: the texts of the files.
package func generate(
  _ description: ModelDescription, modelFileName: String, foundationPredicates: Bool, history: FormerVersions,
  files: Int?
) throws(GeneratorError) -> [String] {
  let plan = try ModelPlan(description, foundationPredicates: foundationPredicates)
  let former = try HistoryPlan(history, of: plan.model)
  let parts = FilePart.parts(of: plan, count: files)
  let last = parts.lastIndex { !$0.isEmpty } ?? 0
  return parts.indices.map { number in
    var writer = CodeWriter()
    let hasHistory = number == last && !former.versions.isEmpty
    HeaderEmitter.emitImports(
      modelFileName: modelFileName, isEmpty: number > 0 && parts[number].isEmpty,
      needsFoundation: parts[number].contains(where: \.needsFoundation)
        || number == 0 && description.composites.contains { $0.attributes.contains(where: SwiftType.needsFoundation) }
        || hasHistory && former.needsFoundation,
      to: &writer)
    if number == 0 {
      HeaderEmitter.emitModel(plan, to: &writer)
      for composite in description.composites {
        CompositeEmitter.emit(composite, in: plan.model, hasKeyPaths: foundationPredicates, to: &writer)
      }
      for enumeration in description.enums { EnumEmitter.emit(enumeration, to: &writer) }
    }
    for entity in parts[number] { EntityEmitter.emit(entity, to: &writer) }
    if number == last { HistoryEmitter.emit(former, to: &writer) }
    return writer.text
  }
}

// MARK: - File part

/// The distribution of entities over files.
///
/// The compiler's time for a file grows faster than the file: for each function LLVM visits every constant that can be
/// reached from it, which are those of all related entities of the file. Several files are also compiled side by side.
package enum FilePart {
  /// The number of entities of a file that is followed by another one. A hierarchy is in one file, because its classes
  /// use members of each other that are private to the file.
  package static let size = 20

  /// The number of files for a number of entities. The build tool plugin has the same rule.
  package static func count(forEntities count: Int) -> Int { max(1, (count + size - 1) / size) }

  /// The name of a file by its number from 1: `Diary.trellis.swift`, `Diary.trellis.2.swift`.
  package static func path(_ first: String, number: Int) -> String {
    let ending = ".swift"
    let stem = first.hasSuffix(ending) ? String(first.dropLast(ending.count)) : first
    return number == 1 ? first : "\(stem).\(number)\(ending)"
  }

  static func parts(of plan: ModelPlan, count: Int?) -> [[EntityPlan]] {
    let entities = plan.entities
    let count = count ?? Self.count(forEntities: entities.count)
    guard count > 1 else { return [entities] }
    let size = max(Self.size, (entities.count + count - 1) / count)
    var hierarchies: [Int: [EntityPlan]] = [:]
    for entity in entities { hierarchies[entity.entity.root, default: []].append(entity) }
    var parts: [[EntityPlan]] = [[]]
    for entity in entities {
      // A hierarchy is in the place of its first class.
      guard let hierarchy = hierarchies.removeValue(forKey: entity.entity.root) else { continue }
      if parts[parts.count - 1].count >= size, parts.count < count { parts.append([]) }
      parts[parts.count - 1] += hierarchy
    }
    return parts + Array(repeating: [], count: count - parts.count)
  }
}

// MARK: - Header emitter

/// Emits the start of a file, its source and its imports, and the model as a value.
enum HeaderEmitter {
  /// - Parameter isEmpty: Whether nothing follows, so that the file imports nothing.
  static func emitImports(
    modelFileName: String, isEmpty: Bool, needsFoundation: Bool, to writer: inout CodeWriter
  ) {
    let source = DocComment.cleaned(modelFileName)
    writer.line("// Generated by Trellis from \(source). Do not edit: change the model instead.")
    if isEmpty { return }
    writer.blank()
    if needsFoundation { writer.line("public import Foundation") }
    // The Trellis module re-exports only what apps write. Generated code also needs the modules below, in its own files
    // only.
    writer.line("public import TrellisModel")
    writer.line("@_spi(Generated) public import TrellisRuntime")
    writer.line("@_spi(Generated) public import TrellisStorage")
  }

  static func emitModel(_ plan: ModelPlan, to writer: inout CodeWriter) {
    writer.blank()
    writer.block("nonisolated extension \(TypeName.objectModel)") { writer in
      writer.doc(plan.model.description.doc)
      writer.write("public static let \(ModelPlan.name(of: plan.model)) = ", objectModel(plan))
    }
  }

  private static func objectModel(_ plan: ModelPlan) -> Code {
    .call(
      TypeName.objectModel,
      [
        description(plan.model.description),
        .labeled("objects", .list(plan.entities.map { .plain("\($0.name).self") })),
        .labeled("checksum", .string(plan.model.checksum)),
        .labeled("generatedCode", .plain(".version2")),
      ])
  }

  private static func description(_ description: ModelDescription) -> Code {
    var arguments = Arguments()
    arguments.add("name", .string(description.name))
    arguments.add("version", description.version)
    arguments.add("doc", description.doc)
    arguments.add("enums", description.enums.map { .plain("\($0.name)._description") })
    arguments.add("codableTypes", description.codableTypes.map { .string($0) })
    if !description.codableVersions.isEmpty {
      let versions = description.codableVersions.sorted { $0.key < $1.key }.map { "\"\($0.key)\": \($0.value)" }
      arguments.add("codableVersions", .plain("[\(versions.joined(separator: ", "))]"))
    }
    arguments.add("entities", description.entities.map { .plain("\($0.className)._description") })
    arguments.add("removed", description.removed.map { .string($0) })
    arguments.add(description.userInfo)
    if description.history != .off { arguments.add("history", .plain(".\(description.history)")) }
    if let limit = description.keepHistory { arguments.add("keepHistory", self.limit(limit)) }
    arguments.add(
      "scalars",
      description.scalars.map { scalar in
        .call(TypeName.scalarDescription, [.string(scalar.name), .plain(".\(scalar.type.spelling)")])
      })
    arguments.add("composites", description.composites.map { .plain("\($0.name)._description") })
    return .call(TypeName.modelDescription, arguments.codes)
  }

  private static func limit(_ limit: HistoryLimit) -> Code {
    var arguments = Arguments()
    arguments.add("days", limit.days)
    arguments.add("transactions", limit.transactions)
    return .call(TypeName.historyLimit, arguments.codes)
  }
}

// MARK: - Entity emitter

/// Emits an entity: its class, and the types and fetches that belong to it.
enum EntityEmitter {
  static func emit(_ plan: EntityPlan, to writer: inout CodeWriter) {
    writer.blank()
    writer.line("// MARK: - \(plan.name)")
    writer.blank()
    writer.doc(plan.description.doc)
    writer.block(header(of: plan)) { writer in
      emitStorage(of: plan, to: &writer)
      InitialiserEmitter.emit(plan, to: &writer)
      AccessorEmitter.emit(plan, to: &writer)
      SnapshotAccessEmitter.emitMembers(plan, to: &writer)
      writer.blank()
      writer.line("// MARK: What Trellis calls")
      RowReadingEmitter.emit(plan, to: &writer)
      RowWritingEmitter.emit(plan, to: &writer)
      RowAccessEmitter.emit(plan, to: &writer)
      RowCopyEmitter.emit(plan, to: &writer)
      TransientCopyEmitter.emit(plan, to: &writer)
      HookEmitter.emitOverrides(plan, to: &writer)
      KeyPathEmitter.emit(plan, to: &writer)
      writer.blank()
      DescriptionEmitter.emit(plan, to: &writer)
    }
    writer.blank()
    let fetchable = plan.isRoot ? ": \(TypeName.fetchableObject)" : ""
    writer.block("nonisolated extension \(plan.name)\(fetchable)") { writer in
      RowStructEmitter.emit(plan, to: &writer)
      writer.blank()
      ColumnsEmitter.emit(plan, to: &writer)
      if !plan.isRoot {
        writer.blank()
        FetchEmitter.emitTypes(plan, to: &writer)
      }
      RequestEmitter.emit(plan, to: &writer)
      HookEmitter.emitProtocol(plan, to: &writer)
    }
    RowStructEmitter.emitExtensions(plan, to: &writer)
    HookEmitter.emitConformance(plan, to: &writer)
    SnapshotAccessEmitter.emitExtensions(plan, to: &writer)
    FetchEmitter.emitExtension(plan, to: &writer)
  }

  private static func header(of plan: EntityPlan) -> String {
    let kind = plan.height == 0 ? "public nonisolated final class" : "public nonisolated class"
    let identifiable = plan.isIdentifiable ? ", Swift.Identifiable" : ""
    return "\(kind) \(plan.name): \(plan.parentName ?? TypeName.managedObject)\(identifiable)"
  }

  private static func emitStorage(of plan: EntityPlan, to writer: inout CodeWriter) {
    let attributes = "@exclusivity(unchecked) private final var"
    if plan.hasRow { writer.line("\(attributes) _row: \(plan.rowType)") }
    for field in plan.ownPlaces {
      writer.line("/// The place among `\(field.name.name).\(field.inverseName ?? "")`.")
      writer.line("\(attributes) \(field.storage): Swift.Int64?")
    }
    for field in plan.ownTransients { writer.line("\(attributes) \(field.storage): \(field.type)") }
    if plan.hasRow || !plan.ownTransients.isEmpty { writer.blank() }
  }
}
