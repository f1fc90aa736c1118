import Foundation
import TrellisModelFile

/// Files that commands read. A pipe is one too, so that `trellis diff <(git show HEAD:Diary.model.json) …` works.
enum InputFile {
  static func read(_ path: String) throws(ToolFailure) -> [UInt8] {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
      throw unreadable(path, "There is no such file.")
    }
    guard !isFolder.boolValue else { throw unreadable(path, "This is a folder.") }
    guard FileManager.default.isReadableFile(atPath: path) else { throw unreadable(path, "The file may not be read.") }
    let content: Data
    do {
      let file = try FileHandle(forReadingFrom: URL(filePath: path))
      defer { try? file.close() }
      content = try file.read(upToCount: Limits.fileSize + 1) ?? Data()
    } catch {
      throw unreadable(path, "The file cannot be read.")
    }
    guard content.count <= Limits.fileSize else {
      throw unreadable(path, "The file has more than \(Limits.fileSize) bytes; none of Trellis has.")
    }
    return [UInt8](content)
  }

  static func unreadable(_ path: String, _ reason: String) -> ToolFailure {
    // The address of a server may have a password, which is not repeated.
    if path.hasPrefix("postgresql://") || path.hasPrefix("postgres://") {
      return ToolFailure(
        .unreadable,
        "error: This is the address of a server. The tool works with files; see Docs/PostgreSQL.md for what reads and copies "
          + "a store on a server.")
    }
    return ToolFailure(.unreadable, "\(path): error: \(reason)")
  }

  /// The files of a history, in the order of their names; none if there is no folder.
  static func history(in folder: String) throws(ToolFailure) -> ModelHistory {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder) else { return ModelHistory([]) }
    guard isFolder.boolValue, let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
      throw unreadable(folder, isFolder.boolValue ? "The folder may not be read." : "This is no folder.")
    }
    return ModelHistory(
      names.sorted().map { name in
        let path = file(name, in: folder)
        return ModelHistory.File(path: path, bytes: try? read(path))
      })
  }

  static func file(_ name: String, in folder: String) -> String {
    folder.hasSuffix("/") ? folder + name : folder + "/" + name
  }
}
