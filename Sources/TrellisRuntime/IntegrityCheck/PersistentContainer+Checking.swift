public import TrellisStorage

extension PersistentContainer {
  /// Checks the whole store for inconsistencies, and changes nothing.
  ///
  /// ```swift
  /// for finding in try container.check() { print(finding) }
  /// // Diary/17.images: It has 11 members, and may have 10. Remove members. [member-count]
  /// ```
  /// The check covers unreadable rows, required attributes and to-one relationships, the rules of attributes, numbers
  /// of members, dangling references, relationships with only one end set, and unique keys. It also covers whether the
  /// files of external data exist with the content that was written to them, and what the store checks itself, which
  /// for SQLite is the structure of the file, its tables and indexes. Validation in hooks is not run.
  ///
  /// Other contexts and processes may continue to save. If the store supports pinning, all findings are of the same
  /// moment.
  ///
  /// - Parameter limit: The maximum number of findings. The check ends when it is reached.
  /// - Returns: the findings, in no particular order; empty if the store is consistent.
  /// - Throws: ``StoreError`` if the store cannot be read at all. Parts of it that cannot be read are findings.
  /// - Complexity: linear in the number of objects and relationships, O(*n* log *n*) for unique keys. Some hundred
  ///   objects are in memory at a time, with the keys of their partners.
  public func check(limit: Int = 1_000) throws -> [StoreFinding] {
    var findings: [StoreFinding] = []
    if limit <= 0 { return findings }
    do {
      try check { finding in
        findings.append(finding)
        if findings.count >= limit { throw Enough() }
      }
    } catch is Enough {}
    return findings
  }

  /// Checks the whole store like ``check(limit:)``, and passes on each finding immediately.
  ///
  /// - Parameter body: receives each finding. An error that it throws ends the check.
  /// - Throws: ``StoreError`` if the store cannot be read at all; errors of `body`.
  public func check(_ body: (StoreFinding) throws -> Void) throws {
    let connection = try core.connect()
    let isPinned = try pinIfPossible(connection)
    defer { if isPinned { connection.unpin() } }
    try connection.check(body)
    try withoutActuallyEscaping(body) {
      try GraphCheck(runtime: core.runtime, connection: connection, note: $0).run()
    }
  }

  private func pinIfPossible(_ connection: any StoreConnection) throws -> Bool {
    do {
      try connection.pin()
      return true
    } catch let error as StoreError where error.code == .unsupported {
      return false
    }
  }
}

/// Thrown to end a check when the limit of findings is reached.
private struct Enough: Error {}
