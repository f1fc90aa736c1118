public import TrellisStorage

extension PersistentContainer {
  /// Looks through the whole store for what is not as it should be, and changes nothing.
  ///
  /// ```swift
  /// for finding in try container.check() { print(finding) }
  /// // Diary/17.images: It has 11 members, and may have 10. Remove members. [member-count]
  /// ```
  /// What is verified: that every row can be read, required attributes and to-ones, the rules of attributes, numbers of
  /// members, references that lead nowhere, relationships that only one end knows of, places in ordered to-manys, unique keys;
  /// that the files of external data are there and hold what was written to them; and what the store can say about itself, which for SQLite is the structure of the file, its tables and indexes. Rules of
  /// hooks are not asked.
  ///
  /// Others may go on saving meanwhile. Where the store can show one moment, all findings are of that moment.
  ///
  /// - Parameter limit: How many findings are enough; the check ends when there are so many.
  /// - Returns: what was found, in no particular order; empty when all is well.
  /// - Throws: ``StoreError`` when the store cannot be asked at all. What cannot be read of it is a finding.
  /// - Complexity: linear in the number of objects and relationships, n log n for unique keys. Some hundred objects are in
  ///   memory at a time, with the keys of their partners.
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

  /// Looks through the whole store as ``check(limit:)`` does, and hands each finding on as soon as it is there.
  ///
  /// - Parameter body: gets each finding. What it throws ends the check.
  /// - Throws: ``StoreError`` when the store cannot be asked at all; what `body` throws.
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

/// There are as many findings as were asked for.
private struct Enough: Error {}
