package import Foundation

/// The programs of an installation of PostgreSQL.
package struct PostgresPrograms: Sendable {
  /// The folder of the programs. A link to one of them does not lead to the others, so it is followed.
  package let folder: URL

  package func url(of program: String) -> URL { folder.appending(path: program) }

  /// The programs that are installed: those in the search path, otherwise the newest of those that Debian and Homebrew
  /// leave out of it. Nil if there are none that can make a server.
  package static let installed = find(
    searchPath: ProcessInfo.processInfo.environment["PATH"] ?? "",
    places: [("/usr/lib/postgresql", ""), ("/opt/homebrew/opt", "postgresql"), ("/usr/local/opt", "postgresql")])

  /// Searches for programs.
  ///
  /// - Parameters:
  ///   - searchPath: folders of programs, separated by colons.
  ///   - places: folders with a folder for each version, and how the name of such a folder begins.
  package static func find(searchPath: String, places: [(folder: String, prefix: String)]) -> PostgresPrograms? {
    let inPath = searchPath.split(separator: ":").map { PostgresPrograms(folder: URL(filePath: String($0))) }
    let versions = places.flatMap { folder, prefix in
      let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
      return names.filter { $0.hasPrefix(prefix) }.sorted { $0.compare($1, options: .numeric) == .orderedDescending }
        .map { PostgresPrograms(folder: URL(filePath: "\(folder)/\($0)/bin")) }
    }
    return (inPath + versions).lazy.map(\.linked).first(where: \.isComplete)
  }

  private var linked: PostgresPrograms {
    PostgresPrograms(folder: url(of: "initdb").resolvingSymlinksInPath().deletingLastPathComponent())
  }

  private var isComplete: Bool {
    ["initdb", "postgres", "psql"].allSatisfy { FileManager.default.isExecutableFile(atPath: url(of: $0).path) }
  }
}

/// A program in the search path, or where Debian keeps those of servers.
enum SearchPath {
  static func url(of program: String) -> URL? {
    ((ProcessInfo.processInfo.environment["PATH"] ?? "") + ":/usr/sbin").split(separator: ":")
      .map { URL(filePath: String($0)).appending(path: program) }
      .first { FileManager.default.isExecutableFile(atPath: $0.path) }
  }
}
