import Foundation

/// The folder of a server that a test runs, and the shell that runs it and removes the folder at its end.
struct ServerHome: Sendable {
  let folder: String
  let watchdog: PostgresWatchdog
  private let user: ServerUser

  init(_ programs: PostgresPrograms, in parent: String) throws {
    user = try ServerUser()
    folder = try user.makeFolder(in: parent)
    do {
      watchdog = try PostgresWatchdog(folder: folder, programs: programs, rights: user.command)
    } catch {
      try? FileManager.default.removeItem(atPath: folder)
      throw error
    }
  }

  /// Writes a file of the folder that only the server can read.
  func write(_ text: String, to name: String) throws { try user.write(text, to: "\(folder)/\(name)") }
}

/// The user of a server: that of the tests, or one without rights if that is root, which PostgreSQL refuses.
private struct ServerUser {
  /// The owner of the folders; nil if nothing has to be given away.
  private let owner: (user: uid_t, group: gid_t)?
  /// The beginning of a command that runs as this user.
  let command: [String]

  init() throws {
    guard geteuid() == 0 else {
      (owner, command) = (nil, [])
      return
    }
    guard let setpriv = SearchPath.url(of: "setpriv") else {
      throw PostgresFailure(description: "PostgreSQL does not run as root, and there is no setpriv to give up rights.")
    }
    let entry = getpwnam("postgres").map { ($0.pointee.pw_uid, $0.pointee.pw_gid) } ?? (65_534, 65_534)
    owner = entry
    command = [setpriv.path, "--reuid=\(entry.0)", "--regid=\(entry.1)", "--clear-groups"]
  }

  func makeFolder(in parent: String) throws -> String {
    var path = Array("\(parent)/trellis-pg-XXXXXX".utf8CString)
    guard mkdtemp(&path) != nil else { throw SystemCallFailure("mkdtemp in \(parent)") }
    let folder = String(decoding: path.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    try give(folder)
    return folder
  }

  /// Writes a file that only its owner can read.
  func write(_ text: String, to path: String) throws {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL, 0o600)
    guard descriptor >= 0 else { throw SystemCallFailure("opening \(path)") }
    let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    try file.write(contentsOf: Data(text.utf8))
    try file.close()
    try give(path)
  }

  private func give(_ path: String) throws {
    guard let owner else { return }
    guard chown(path, owner.user, owner.group) == 0 else { throw SystemCallFailure("chown \(path)") }
  }
}
