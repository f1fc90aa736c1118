public import Foundation
public import TrellisModel
import TrellisModelFile

/// A Core Data model as a model file, with the list of what has no counterpart.
///
/// ```swift
/// let model = try CoreDataModelImport(contentsOf: URL(filePath: "Diary.xcdatamodeld"))
/// for file in model.files { print(file.name) }   // Diary.model.json
/// for note in model.notes { print(note) }        // changed Entry.description: is called entryDescription in Swift, …
/// ```
/// Names become words as model files have them, what generated classes need for themselves gets another name in Swift,
/// and renaming identifiers become former names.
public struct CoreDataModelImport: Sendable {
  /// A file to write.
  public struct File: Hashable, Sendable {
    /// The path of the file, relative to the folder of the model: `Diary.model.json`, `Diary.history/0001.json`.
    public let name: String
    /// The content in UTF-8.
    public let text: String
  }

  /// The model file, and after it the versions of the history if there is one.
  public let files: [File]
  /// What of the current version has no counterpart, and what became of it, in the order of the source.
  public let notes: [CoreDataNote]
  /// The current version.
  public let description: ModelDescription

  /// Reads an `.xcdatamodeld` or an `.xcdatamodel`.
  ///
  /// - Parameters:
  ///   - url: The folder.
  ///   - allVersions: Whether all versions of an `.xcdatamodeld` become released versions, in the order of their names
  ///     and with the current one last, as `trellis release` keeps them. Versions that are alike in everything that
  ///     model files can say become one.
  ///   - day: The day of release in the history, as `2026-03-02`; nil for that of today in UTC.
  /// - Throws: ``CoreDataError``.
  /// - Complexity: linear in the sizes of the files.
  public init(contentsOf url: URL, allVersions: Bool = false, day: String? = nil) throws(CoreDataError) {
    let package = try ModelPackage(contentsOf: url)
    guard let current = package.current else {
      throw CoreDataError(.noModel, "\(url.path) has no versions.", remedy: "Give an .xcdatamodeld or .xcdatamodel.")
    }
    let former = package.versions.dropLast().map(\.model)
    let translation = try ModelTranslation(current.model, name: package.name, former: former)
    description = translation.description
    notes = translation.notes
    let name = translation.description.name
    var files = [File(name: "\(name).model.json", text: try Self.text(of: translation.description, url))]
    if allVersions {
      files += try Self.history(of: package, named: name, current: translation.description, day: day ?? Self.today)
    }
    self.files = files
  }

  /// The text of a model, which the checks of model files accept.
  private static func text(of description: ModelDescription, _ url: URL) throws(CoreDataError) -> String {
    let text = description.canonicalJSON()
    let result = ModelFile.parse(Array(text.utf8), path: "\(description.name).model.json")
    guard result.hasErrors else { return text }
    let first = result.diagnostics.first { $0.severity == .error }?.message ?? "it has errors."
    throw CoreDataError(
      .invalidModel, "\(url.path) has no counterpart as a model file: \(first)", remedy: "Correct the model in Xcode.")
  }

  private static func history(
    of package: ModelPackage, named name: String, current: ModelDescription, day: String
  ) throws(CoreDataError) -> [File] {
    var files: [File] = []
    var last: String?
    for (index, version) in package.versions.enumerated() {
      let isLast = index == package.versions.count - 1
      let description =
        isLast
        ? current
        : try ModelTranslation(
          version.model, name: package.name, former: package.versions[..<index].map(\.model)
        ).description
      let released = ReleasedModel(description, number: files.count + 1, released: day)
      if released.checksum == last { continue }
      last = released.checksum
      files.append(File(name: "\(name).history/\(ModelHistory.fileName(of: released.number))", text: released.fileText))
    }
    return files
  }

  private static var today: String {
    let seconds = ProcessInfo.processInfo.environment["SOURCE_DATE_EPOCH"].flatMap(Double.init)
    let date = seconds.map { Date(timeIntervalSince1970: $0) } ?? Date()
    let micros = CoreDataDate.microseconds(date.timeIntervalSinceReferenceDate) ?? 0
    return String(DateText.text(micros).prefix(10))
  }
}
