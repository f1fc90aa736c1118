import Foundation
import TrellisModel
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

  /// Refuses what is no regular file, since opening a named pipe would wait for its writer.
  ///
  /// - Parameter mayBePipe: Whether the file is read from its start to its end only, as the input of a pipe is.
  static func needRegular(_ path: String, mayBePipe: Bool = false) throws(ToolFailure) {
    let target = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    guard FileManager.default.fileExists(atPath: path),
      let type = try? FileManager.default.attributesOfItem(atPath: target)[.type] as? FileAttributeType
    else { throw unreadable(path, "There is no such file.") }
    switch type {
    case .typeRegular: break
    case .typeDirectory: throw unreadable(path, "This is a folder.")
    case .typeSocket: throw unreadable(path, "This is a socket; a file is needed.")
    case .typeBlockSpecial: throw unreadable(path, "This is a device; a file is needed.")
    case .typeCharacterSpecial:
      throw unreadable(path, "This is a device; a file is needed\(mayBePipe ? ", or - for the input" : "").")
    // A pipe of a shell, as in `<(command)`, has no type that Foundation knows.
    default:
      if !mayBePipe {
        throw unreadable(path, "This is a pipe; a file is needed, in which one can go back and forth.")
      }
    }
    guard FileManager.default.isReadableFile(atPath: path) else { throw unreadable(path, "The file may not be read.") }
  }

  static func unreadable(_ path: String, _ reason: String) -> ToolFailure {
    // The address of a server may have a password, which is not repeated.
    if path.hasPrefix("postgresql://") || path.hasPrefix("postgres://") {
      return ToolFailure(
        .unreadable,
        "error: This is the address of a server, and a file is needed here. A store on a server is given as "
          + "postgresql://user@host/database?schema=NAME to the commands that take a STORE.")
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
