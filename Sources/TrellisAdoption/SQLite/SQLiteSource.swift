package import Foundation
import TrellisForeignFiles
import TrellisStorage

/// A SQLite file that is read at one moment, with its log if it has one. Programs may go on writing to it.
package final class SQLiteSource: AdoptionSource {
  package let place: String
  let name: String
  private let file: ForeignFile
  /// What identifies the rows of each table, once it was read.
  private var identities: [String: SourceIdentity] = [:]

  /// - Throws: ``AdoptionError``.
  package init(_ url: URL) throws(AdoptionError) {
    let place = url.relativePath
    let sizes = ["", "-wal", "-journal"].map { ending in
      try? FileManager.default.attributesOfItem(atPath: url.path + ending)[.size] as? Int
    }
    do throws(ForeignFileError) {
      file = try ForeignFile(
        path: url.path, size: (sizes[0] ?? 0) + (sizes[1] ?? 0),
        .shared(hasLog: sizes[1] != nil || sizes[2] != nil))
    } catch {
      throw AdoptionError(error, reading: place)
    }
    self.place = place
    name = url.deletingPathExtension().lastPathComponent
  }

  // MARK: Statements

  /// Passes the rows of a query.
  ///
  /// - Parameter text: The value of `?1`.
  /// - Throws: ``AdoptionError``, or errors of `body`.
  func query(_ sql: String, _ text: String? = nil, _ body: (ForeignRow) throws(AdoptionError) -> Void)
    throws(AdoptionError)
  {
    do {
      try run(sql, text) { row in try body(row) }
    } catch {
      throw error as? AdoptionError ?? AdoptionError(ForeignFileError(.refused, "\(error)"), reading: place)
    }
  }

  private func run(_ sql: String, _ text: String? = nil, _ body: (ForeignRow) throws -> Void) throws {
    do { try file.rows(sql, text.map { [.text($0)] } ?? [], body) } catch let error as ForeignFileError {
      throw AdoptionError(error, reading: place)
    }
  }

  // MARK: Rows

  /// What identifies the rows of a table.
  func identity(of table: String) throws(AdoptionError) -> SourceIdentity {
    if let known = identities[table] { return known }
    let found = try SourceIdentity(table, self)
    identities[table] = found
    return found
  }

  package func rows(_ query: RowQuery, _ body: (SourceRow) throws -> Void) throws {
    let identity = try identity(of: query.table)
    var selected = identity.columns.map { "main." + $0 }
    selected += query.columns.map { "main." + SQLName.quoted($0) }
    var widths: [(identity: SourceIdentity, width: Int)] = []
    for reference in query.references {
      let target = try self.identity(of: reference.target)
      widths.append((target, target.columns.count))
      let condition = zip(reference.targetColumns, reference.columns).map { target, column in
        "goal.\(SQLName.quoted(target)) = main.\(SQLName.quoted(column))"
      }
      for column in target.columns {
        selected.append(
          "(SELECT goal.\(column) FROM \(SQLName.quoted(reference.target)) AS goal "
            + "WHERE \(condition.joined(separator: " AND ")) LIMIT 1)")
      }
    }
    let order = identity.columns.map { "main." + $0 }.joined(separator: ", ")
    let sql =
      "SELECT \(selected.joined(separator: ", ")) FROM \(SQLName.quoted(query.table)) AS main ORDER BY \(order)"
    try run(sql) { row in
      var next = identity.columns.count
      var values: [ForeignValue] = []
      values.reserveCapacity(query.columns.count)
      for _ in query.columns {
        values.append(row.value(next))
        next += 1
      }
      var targets: [RowIdentity?] = []
      for (target, width) in widths {
        targets.append(target.value(row, at: next))
        next += width
      }
      guard let own = identity.value(row, at: 0) ?? identity.incomplete(row) else { return }
      try body(SourceRow(own, values: values, targets: targets))
    }
  }
}

// MARK: - Identity

/// What tells the rows of a table apart: their row numbers, or the primary key of a table without them.
struct SourceIdentity {
  /// The columns, quoted.
  let columns: [String]
  private let isNumber: Bool

  fileprivate init(_ table: String, _ source: SQLiteSource) throws(AdoptionError) {
    var names: Set<String> = []
    var keys: [(place: Int64, name: String)] = []
    try source.query("SELECT name, pk FROM pragma_table_xinfo(?1)", table) { row in
      guard let name = row.text(0) else { return }
      names.insert(name.lowercased())
      if let place = row.integer(1), place > 0 { keys.append((place, name)) }
    }
    var hasNoNumbers = false
    try source.query("SELECT 1 FROM pragma_table_list WHERE schema = 'main' AND name = ?1 AND wr = 1", table) { _ in
      hasNoNumbers = true
    }
    let number = ["rowid", "_rowid_", "oid"].first { !names.contains($0) }
    if !hasNoNumbers, let number {
      (columns, isNumber) = ([number], true)
    } else {
      columns = keys.sorted { $0.place < $1.place }.map { SQLName.quoted($0.name) }
      isNumber = false
    }
    guard !columns.isEmpty else {
      throw AdoptionError(
        .unreadable,
        "The rows of \(table) in \(source.place) cannot be told apart: it has columns called rowid, oid and _rowid_.",
        remedy: "Give the table a primary key.")
    }
  }

  fileprivate func value(_ row: ForeignRow, at place: Int) -> RowIdentity? {
    if isNumber { return row.integer(place).map { .number($0) } }
    let values = columns.indices.map { row.value(place + $0) }
    return values.contains(.null) ? nil : .values(values)
  }

  /// The identity of a row whose key has nulls.
  fileprivate func incomplete(_ row: ForeignRow) -> RowIdentity? {
    isNumber ? nil : .values(columns.indices.map { row.value($0) })
  }
}

extension AdoptionError {
  fileprivate init(_ error: ForeignFileError, reading place: String) {
    switch error.reason {
    case .noLibrary: self.init(.unreadable, error.message, remedy: "Install SQLite 3.38 or later (libsqlite3).")
    case .noDatabase:
      self.init(
        .noDatabase, "\(place) is encrypted, or is no SQLite file.",
        remedy: "Give a SQLite file; decrypt it with the program that made it.")
    case .busy:
      self.init(.busy, "\(place) is locked by another program.", remedy: "Try again when it has ended.")
    case .inaccessible:
      self.init(
        .unreadable, "\(place) cannot be read: \(error.message).",
        remedy: "Check that the file is there and may be read; with a log beside it, that its folder may be written to."
      )
    case .damaged:
      self.init(.damaged, "\(place) is damaged: \(error.message).", remedy: "Restore it from a backup.")
    case .foreign:
      self.init(
        .unreadable,
        "\(place) cannot be read, because it uses what only the program has that made it: \(error.message).",
        remedy:
          "Let that program write a copy (VACUUM INTO), and drop there the computed column, key or index that uses it.")
    case .refused:
      self.init(
        .unreadable, "\(place) cannot be read: \(error.message).",
        remedy: "Open it with the program that made it, and take out what only that program knows.")
    }
  }
}
