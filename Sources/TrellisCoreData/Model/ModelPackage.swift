import Foundation

/// An `.xcdatamodeld` with its versions, or a single `.xcdatamodel`.
struct ModelPackage {
  struct Version {
    /// The name of the version's folder without its ending.
    let name: String
    let model: CoreDataModel
  }

  /// The name of the package without its ending.
  let name: String
  /// The versions, in the order of their names with numbers compared as numbers. The current one is last.
  let versions: [Version]

  /// The current version.
  var current: Version? { versions.last }

  /// - Parameter onlyCurrent: Whether the other versions are not read.
  /// - Throws: ``CoreDataError``.
  init(contentsOf url: URL, onlyCurrent: Bool = false) throws(CoreDataError) {
    let url = url.standardizedFileURL
    name = url.deletingPathExtension().lastPathComponent
    if url.pathExtension == "xcdatamodeld" {
      versions = try Self.versions(in: url, onlyCurrent: onlyCurrent)
    } else if Self.isFolder(url) {
      versions = [Version(name: name, model: try Self.model(at: url.appendingPathComponent("contents")))]
    } else if url.lastPathComponent == "contents" {
      let folder = url.deletingLastPathComponent()
      let name = folder.deletingPathExtension().lastPathComponent
      versions = [Version(name: name, model: try Self.model(at: url))]
    } else {
      throw CoreDataError(
        .noModel, "\(url.path) is no Core Data model.", remedy: "Give a folder .xcdatamodeld or .xcdatamodel.")
    }
  }

  private static func versions(in package: URL, onlyCurrent: Bool) throws(CoreDataError) -> [Version] {
    let names: [String]
    do {
      names = try FileManager.default.contentsOfDirectory(atPath: package.path)
    } catch {
      throw CoreDataError(
        .unreadableFile, "\(package.path) cannot be read.", remedy: "Check that the folder exists and may be read.")
    }
    var folders = names.filter { $0.hasSuffix(".xcdatamodel") }.sorted(by: isBefore)
    let current = try currentName(in: package)
    if let current {
      guard folders.contains(current) else {
        throw CoreDataError(
          .noModel, "\(package.path) has no version \(current), which .xccurrentversion names.",
          remedy: "Restore the version, or set the current one in Xcode.")
      }
      folders.removeAll { $0 == current }
      folders.append(current)
    } else if folders.count > 1 {
      throw CoreDataError(
        .noModel, "\(package.path) has \(folders.count) versions and does not say which is the current one.",
        remedy: "Restore the file .xccurrentversion, or give one of the .xcdatamodel folders in it.")
    }
    guard let last = folders.last else {
      throw CoreDataError(
        .noModel, "\(package.path) has no versions.", remedy: "Restore the .xcdatamodel folders in it.")
    }
    var versions: [Version] = []
    for folder in onlyCurrent ? [last] : folders {
      let url = package.appendingPathComponent(folder)
      versions.append(
        Version(
          name: url.deletingPathExtension().lastPathComponent,
          model: try model(at: url.appendingPathComponent("contents"))))
    }
    return versions
  }

  /// The name in `.xccurrentversion`; nil if there is no such file.
  private static func currentName(in package: URL) throws(CoreDataError) -> String? {
    let url = package.appendingPathComponent(".xccurrentversion")
    guard FileManager.default.fileExists(atPath: url.path) else { return nil }
    let data = try read(url, limit: 1 << 20)
    let list = try? PropertyListSerialization.propertyList(from: Data(data), format: nil)
    guard let name = (list as? [String: Any])?["_XCCurrentVersionName"] as? String else {
      throw CoreDataError(
        .noModel, "\(url.path) does not say which version is the current one.",
        remedy: "Set the current version in Xcode.")
    }
    return name
  }

  private static func model(at url: URL) throws(CoreDataError) -> CoreDataModel {
    guard FileManager.default.fileExists(atPath: url.path) else {
      let folder = url.deletingLastPathComponent()
      let isOld = FileManager.default.fileExists(atPath: folder.appendingPathComponent("elements").path)
      throw CoreDataError(
        .noModel,
        isOld ? "\(folder.path) is a model of Xcode 3, which is not text." : "\(folder.path) has no file contents.",
        remedy: isOld ? "Open the model in a newer Xcode and save it." : "Give an .xcdatamodeld or .xcdatamodel.")
    }
    return try ModelXMLReader.read(try read(url, limit: ModelXMLReader.sizeLimit), path: url.path)
  }

  private static func read(_ url: URL, limit: Int) throws(CoreDataError) -> [UInt8] {
    do {
      let size = try FileManager.default.attributesOfItem(atPath: url.path)[.size] as? Int ?? 0
      guard size <= limit else {
        throw CoreDataError(.limit, "\(url.path) has \(size) bytes.", remedy: "Give a file of at most \(limit).")
      }
      return [UInt8](try Data(contentsOf: url))
    } catch let error as CoreDataError {
      throw error
    } catch {
      throw CoreDataError(
        .unreadableFile, "\(url.path) cannot be read.", remedy: "Check that the file exists and may be read.")
    }
  }

  private static func isFolder(_ url: URL) -> Bool {
    var isFolder: ObjCBool = false
    return FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) && isFolder.boolValue
  }

  /// Orders `Model 2` before `Model 10`.
  private static func isBefore(_ left: String, _ right: String) -> Bool {
    let (left, right) = (parts(left), parts(right))
    for (first, second) in zip(left, right) where first != second {
      if let a = Int(first), let b = Int(second), a != b { return a < b }
      return first < second
    }
    return left.count < right.count
  }

  /// The text in runs of digits and of other characters, without the ending.
  private static func parts(_ name: String) -> [String] {
    var parts: [String] = []
    var wasDigit: Bool?
    for character in name.dropLast(".xcdatamodel".count) {
      let isDigit = character.isASCII && character.isNumber
      if isDigit == wasDigit { parts[parts.count - 1].append(character) } else { parts.append(String(character)) }
      wasDigit = isDigit
    }
    return parts
  }
}
