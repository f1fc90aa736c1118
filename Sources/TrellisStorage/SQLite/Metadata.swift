internal import CSQLite
import Foundation
import TrellisModel

/// The metadata of a file, in the table `_trellis`.
enum Metadata {
  private static let keys = (
    format: "format", name: "model", signature: "storage", whole: "modelJSON", checksum: "checksum",
    nextKey: "nextKey", collections: "collections", compatible: "compatible",
    readOnlyCompatible: "readOnlyCompatible", incompatible: "incompatible", history: "history",
    firstValues: "firstValues"
  )

  /// The metadata that is read first.
  struct Head {
    var format: StoredValue?
    var checksum: StoredValue?
    var features = StoreFeatures()
    /// Whether the file lists the features that it uses. Files from before there were features do not.
    var hasFeatures = false

    /// Whether the file has a history.
    var hasHistory: Bool { features.readOnlyCompatible.contains(StoreFeatures.history) }

    /// Whether the file has the table of models.
    var hasModels: Bool { features.compatible.contains(StoreFeatures.models) }
  }

  /// - Parameter steps: the steps that the file does not need, because it is newer than their versions.
  static func write(_ model: Model, passing steps: [CodedStep], to database: Database) throws(StoreError) {
    try set(keys.format, .integer(Int64(FileHeader.format)), in: database)
    try set(keys.nextKey, .integer(1), in: database)
    try writeModel(model, to: database)
    try write(StoreFeatures(compatible: [StoreFeatures.models]), to: database)
    try ModelLineage.add(ModelLineage.present(model), passing: steps, to: database)
  }

  private static func write(_ features: StoreFeatures, to database: Database) throws(StoreError) {
    let lists = [
      (keys.compatible, features.compatible), (keys.readOnlyCompatible, features.readOnlyCompatible),
      (keys.incompatible, features.incompatible),
    ]
    for (key, words) in lists { try set(key, .text(words.sorted().joined(separator: " ")), in: database) }
  }

  /// Adds the table of models to a file that does not have it, inside a write transaction. The first row is the file's
  /// current model.
  static func beginLineage(in database: Database) throws(StoreError) {
    var features = try head(of: database).features
    if features.compatible.contains(StoreFeatures.models) { return }
    features.compatible.formUnion(StoreFeatures.known.compatible)
    // An earlier version of Trellis may have omitted the feature names when it copied the file.
    if try database.text("SELECT 1 FROM sqlite_schema WHERE name = '_models'") == nil {
      try database.execute(SchemaStatements.models, doing: "note the models of the file")
    }
    try write(features, to: database)
    if case .text(let checksum)? = try value(keys.checksum, in: database),
      case .text(let json)? = try value(keys.whole, in: database)
    {
      try ModelLineage.add(StoredModel(checksum: checksum, version: nil, since: nil, json: json), to: database)
    }
  }

  static func writeModel(_ model: Model, to database: Database) throws(StoreError) {
    try set(keys.name, .text(model.name), in: database)
    try set(keys.signature, .text(model.signatureWithDerivations), in: database)
    try set(keys.whole, .text(model.description.canonicalJSON()), in: database)
    try set(keys.checksum, .text(model.checksum), in: database)
  }

  /// Reads the metadata that every opening needs, in one statement.
  static func head(of database: Database) throws(StoreError) -> Head {
    let wanted = [keys.format, keys.checksum, keys.compatible, keys.readOnlyCompatible, keys.incompatible]
    let statement = try database.prepare(
      "SELECT \"value\", \"key\" FROM \(SQLName.metadata) WHERE \"key\" IN "
        + "(\(wanted.map { "'\($0)'" }.separated(by: ", ")))")
    defer { _ = trellis_sqlite3_finalize(statement.pointer) }
    var head = Head()
    while try database.step(statement.pointer, doing: "read what the file is") {
      let value = value(of: statement.pointer, in: database)
      switch database.text(of: statement.pointer, 1) {
      case keys.format: head.format = value
      case keys.checksum: head.checksum = value
      case keys.compatible: head.features.compatible = try words(value, &head, database)
      case keys.readOnlyCompatible: head.features.readOnlyCompatible = try words(value, &head, database)
      case keys.incompatible: head.features.incompatible = try words(value, &head, database)
      default: break
      }
    }
    return head
  }

  private static func words(
    _ value: StoredValue?, _ head: inout Head, _ database: Database
  ) throws(StoreError) -> Set<String> {
    head.hasFeatures = true
    guard case .text(let text)? = value else { throw noWords(database.path) }
    let words = text.split(separator: " ", maxSplits: 1_000, omittingEmptySubsequences: true).map(String.init)
    guard StoreFeatures.areWords(words) else { throw noWords(database.path) }
    return Set(words)
  }

  private static func noWords(_ path: String) -> StoreError {
    SQLiteErrors.damaged(path, "its list of features is no list of words")
  }

  /// What the file says of its models.
  static func models(of database: Database) throws(StoreError) -> FileModels {
    FileModels(database: database, head: try head(of: database))
  }

  /// - Throws: ``StoreError`` if the file is damaged, or of a newer version of Trellis.
  static func fit(of model: Model, in database: Database) throws(StoreError) -> ModelFit {
    try ModelFit(of: model, to: try models(of: database))
  }

  /// The checksum of the file's model, if this version of Trellis can read the file.
  fileprivate static func readableChecksum(_ head: Head, in database: Database) throws(StoreError) -> String {
    guard case .integer(let format)? = head.format, format > 0 else {
      throw SQLiteErrors.damaged(database.path, "it does not say which format it has")
    }
    guard format <= FileHeader.format else { throw FileHeader.newer(database.path, found: String(format)) }
    _ = try nextKey(in: database)
    if let refusal = head.features.refusal(of: database.path) { throw refusal }
    guard case .text(let checksum)? = head.checksum else { throw saysNothing(database.path) }
    return checksum
  }

  /// The text of the model that the file was written with.
  fileprivate static func modelText(in database: Database) throws(StoreError) -> String {
    guard case .text(let text)? = try value(keys.whole, in: database) else { throw saysNothing(database.path) }
    return text
  }

  /// The model that the file was written with.
  static func storedModel(in database: Database) throws(StoreError) -> Model {
    try models(of: database).model()
  }

  fileprivate static func nameAndSignature(in database: Database) throws(StoreError) -> (String, String) {
    guard case .text(let name)? = try value(keys.name, in: database),
      case .text(let signature)? = try value(keys.signature, in: database)
    else { throw saysNothing(database.path) }
    return (name, signature)
  }

  private static func saysNothing(_ path: String) -> StoreError {
    SQLiteErrors.damaged(path, "it does not say what it holds")
  }

  /// - Returns: nil if the file can be used as it is.
  static func need(
    of model: Model, _ policy: MigrationPolicy, in database: Database
  ) throws(StoreError) -> MigrationNeed? {
    let models = try models(of: database)
    return try MigrationNeed(of: model, policy, try ModelFit(of: model, to: models), models)
  }

  // MARK: The current model

  /// The checksum of the file's current model.
  static func checksum(through connection: SQLiteConnection) throws(StoreError) -> String {
    let statement = try connection.statement(.modelChecksum, 0) {
      "SELECT \"value\" FROM \(SQLName.metadata) WHERE \"key\" = '\(keys.checksum)'"
    }
    defer { _ = trellis_sqlite3_reset(statement.pointer) }
    guard try connection.database.step(statement.pointer, doing: "read what the file is"),
      let checksum = connection.database.text(of: statement.pointer)
    else { throw saysNothing(connection.database.path) }
    return checksum
  }

  /// Whether the stored data is valid for a model as it is.
  static func isStoredAlike(
    _ model: Model, _ history: Set<String>, in database: Database
  ) throws(StoreError) -> Bool {
    let (name, signature) = try nameAndSignature(in: database)
    guard TextBytes.areEqual(name, model.name), TextBytes.areEqual(signature, model.signatureWithDerivations) else {
      return false
    }
    guard case .text(let checksum)? = try value(keys.checksum, in: database) else { throw saysNothing(database.path) }
    let stored = try StoredModelReading.model(try modelText(in: database), checksum: checksum, of: database.path)
    return HistoryPlan(stored).signature == history && Migration(from: stored, to: model).isIdentity
  }

  // MARK: Keys

  /// Checks that keys can be reserved, without writing.
  static func rehearseReserving(_ count: Int64, in database: Database) throws(StoreError) {
    try database.execute("BEGIN IMMEDIATE", doing: "reserve keys")
    defer { try? database.execute("ROLLBACK", doing: "reserve keys") }
    _ = try reserve(count, in: database)
  }

  /// Reserves keys permanently, inside a write transaction.
  static func reserve(_ count: Int64, in database: Database) throws(StoreError) -> Range<Int64> {
    let next = try nextKey(in: database)
    // More than any block is the way to the keys of another number.
    let isBlock = next >= KeyReservation.firstOfReplicas && count <= KeyReservation.size
    let count = isBlock ? min(count, KeyReservation.sizeInReplicas) : count
    let (end, overflow) = next.addingReportingOverflow(count)
    guard !overflow, !isBlock || KeyReservation.areOfOneReplica(next..<end) else {
      throw KeyReservation.exhausted(database.path)
    }
    try set(keys.nextKey, .integer(end), in: database)
    return next..<end
  }

  /// Reserves keys that are in use already, inside a write transaction.
  static func reserve(_ keys: Range<Int64>, in database: Database) throws(StoreError) {
    guard try nextKey(in: database) <= keys.lowerBound else {
      throw StoreError(
        .changedByOthers,
        "\(database.path) was opened while its disk was full, and another program has reserved the keys of the objects "
          + "that were made since.", remedy: "Open the store again, and make the objects again.")
    }
    try set(Self.keys.nextKey, .integer(keys.upperBound), in: database)
  }

  static func nextKey(in database: Database) throws(StoreError) -> Int64 {
    guard case .integer(let next)? = try value(keys.nextKey, in: database), next > 0 else {
      throw SQLiteErrors.damaged(database.path, "it does not say which keys are free")
    }
    return next
  }

  /// Reserves all keys below a number.
  static func raiseNextKey(to key: Int64, in database: Database) throws(StoreError) {
    guard key <= .max - KeyReservation.size else { throw KeyReservation.exhausted(database.path) }
    if try nextKey(in: database) < key { try set(keys.nextKey, .integer(key), in: database) }
  }

  /// Gives back the upper end of the last reservation. Does nothing if another connection has reserved keys since.
  static func giveBack(_ unused: Range<Int64>, in database: Database) throws(StoreError) {
    let statement = try database.prepare(
      "UPDATE \(SQLName.metadata) SET \"value\" = ?1 WHERE \"key\" = '\(keys.nextKey)' AND \"value\" = ?2")
    defer { _ = trellis_sqlite3_finalize(statement.pointer) }
    _ = trellis_sqlite3_bind_int64(statement.pointer, 1, unused.lowerBound)
    _ = trellis_sqlite3_bind_int64(statement.pointer, 2, unused.upperBound)
    _ = try database.step(statement.pointer, doing: "give back keys")
  }

  // MARK: History

  /// The identity of the file's history. Nil if it has none.
  static func historyIdentity(in database: Database) throws(StoreError) -> String? {
    guard case .text(let identity)? = try value(keys.history, in: database), !identity.isEmpty else { return nil }
    return identity
  }

  /// The number of the transaction from which on former values are kept.
  static func firstValues(in database: Database) throws(StoreError) -> Int64 {
    guard case .integer(let number)? = try value(keys.firstValues, in: database) else { return 0 }
    return number
  }

  static func setFirstValues(_ number: Int64, in database: Database) throws(StoreError) {
    try set(keys.firstValues, .integer(number), in: database)
  }

  /// Gives a history that begins its identity, and lists the feature. Nil if the history ends.
  static func setHistory(identity: String?, in database: Database) throws(StoreError) {
    var features = try head(of: database).features
    if identity == nil {
      features.readOnlyCompatible.remove(StoreFeatures.history)
    } else {
      features.readOnlyCompatible.insert(StoreFeatures.history)
    }
    try write(features, to: database)
    try set(keys.history, .text(identity ?? ""), in: database)
  }

  /// Counts the collections of external files, so that the commit has a change: SQLite writes nothing if no value
  /// changes.
  static func noteCollection(in database: Database) throws(StoreError) {
    let before: Int64 = if case .integer(let count)? = try value(keys.collections, in: database) { count } else { 0 }
    try set(keys.collections, .integer(before &+ 1), in: database)
  }

  // MARK: Notes

  private static let notePrefix = "note:"

  /// - Throws: ``StoreNoteConflict``; ``StoreError``.
  static func change(_ note: StoreNote, in database: Database) throws {
    let present = try notes(beginningWith: note.name, in: database)[note.name]
    guard present == note.former else { throw StoreNoteConflict(name: note.name) }
    let text =
      note.value == nil
      ? "DELETE FROM \(SQLName.metadata) WHERE \"key\" = ?1"
      : "INSERT INTO \(SQLName.metadata) (\"key\", \"value\") VALUES (?1, ?2) "
        + "ON CONFLICT (\"key\") DO UPDATE SET \"value\" = excluded.\"value\""
    let statement = try database.prepare(text)
    defer { _ = trellis_sqlite3_finalize(statement.pointer) }
    let name = StoredValue.text(notePrefix + note.name)
    try database.check(try database.bind(name, .plain, 1, statement.pointer), doing: "bind the name of a note")
    if let value = note.value {
      try database.check(try database.bind(.blob(value), .plain, 2, statement.pointer), doing: "bind a note")
    }
    _ = try database.step(statement.pointer, doing: "write a note")
  }

  static func isInReplicaSet(_ database: Database) throws(StoreError) -> Bool {
    for prefix in [StoreNote.ofReplica, StoreNote.ofServer] {
      if try !notes(beginningWith: prefix, in: database).isEmpty { return true }
    }
    return false
  }

  static func notes(beginningWith prefix: String, in database: Database) throws(StoreError) -> [String: [UInt8]] {
    let statement = try database.prepare(
      "SELECT \"key\", \"value\" FROM \(SQLName.metadata) WHERE \"key\" >= ?1 AND \"key\" < ?2")
    defer { _ = trellis_sqlite3_finalize(statement.pointer) }
    let first = notePrefix + prefix
    try database.check(
      try database.bind(.text(first), .plain, 1, statement.pointer), doing: "bind the name of a note")
    try database.check(
      try database.bind(.text(first + "\u{10FFFF}"), .plain, 2, statement.pointer), doing: "bind the name of a note")
    var found: [String: [UInt8]] = [:]
    while try database.step(statement.pointer, doing: "read the notes") {
      guard let key = database.text(of: statement.pointer) else { continue }
      let count = Int(trellis_sqlite3_column_bytes(statement.pointer, 1))
      let start = trellis_sqlite3_column_blob(statement.pointer, 1)
      found[String(key.dropFirst(notePrefix.count))] =
        start.map { Array(UnsafeRawBufferPointer(start: $0, count: count)) } ?? []
    }
    return found
  }

  // MARK: Entries

  private static func value(_ key: String, in database: Database) throws(StoreError) -> StoredValue? {
    let statement = try database.prepare("SELECT \"value\" FROM \(SQLName.metadata) WHERE \"key\" = '\(key)'")
    defer { _ = trellis_sqlite3_finalize(statement.pointer) }
    guard try database.step(statement.pointer, doing: "read what the file is") else { return nil }
    return value(of: statement.pointer, in: database)
  }

  /// The first column of the current row.
  private static func value(of statement: OpaquePointer, in database: Database) -> StoredValue? {
    if trellis_sqlite3_column_type(statement, 0) == TRELLIS_SQLITE_INTEGER {
      return .integer(trellis_sqlite3_column_int64(statement, 0))
    }
    return database.text(of: statement).map { .text($0) }
  }

  private static func set(_ key: String, _ value: StoredValue, in database: Database) throws(StoreError) {
    let statement = try database.prepare(
      "INSERT INTO \(SQLName.metadata) (\"key\", \"value\") VALUES ('\(key)', ?1) "
        + "ON CONFLICT (\"key\") DO UPDATE SET \"value\" = excluded.\"value\"")
    defer { _ = trellis_sqlite3_finalize(statement.pointer) }
    try database.check(try database.bind(value, .plain, 1, statement.pointer), doing: "bind a value")
    _ = try database.step(statement.pointer, doing: "write what the file is")
  }
}

extension Database {
  /// The first column of the first row as text. Nil if there is no row, or if the column is null.
  func text(_ sql: String) throws(StoreError) -> String? {
    let statement = try prepare(sql)
    defer { _ = trellis_sqlite3_finalize(statement.pointer) }
    return try step(statement.pointer, doing: "read the file") ? text(of: statement.pointer) : nil
  }

  func text(of statement: OpaquePointer, _ column: Int32 = 0) -> String? {
    guard let start = trellis_sqlite3_column_text(statement, column) else { return nil }
    let count = Int(trellis_sqlite3_column_bytes(statement, column))
    return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
  }
}

// MARK: - File models

/// What a file says of the models that it has and had.
struct FileModels: StoredModels {
  let database: Database
  let head: Metadata.Head

  var storeName: String { database.path }

  func checksum() throws(StoreError) -> String { try Metadata.readableChecksum(head, in: database) }

  func nameAndSignature() throws(StoreError) -> (name: String, signature: String) {
    try Metadata.nameAndSignature(in: database)
  }

  func signature(of model: Model) -> String { model.signatureWithDerivations }

  func text() throws(StoreError) -> String { try Metadata.modelText(in: database) }

  func hasHad(_ checksum: String) throws(StoreError) -> Bool {
    head.hasModels ? try ModelLineage.contains(checksum, in: database) : false
  }

  func checksums() throws(StoreError) -> [String] {
    head.hasModels ? try ModelLineage.all(in: database).map(\.checksum) : []
  }

  func newestVersion() throws(StoreError) -> String? {
    try database.text("SELECT \"version\" FROM \(SQLName.models) ORDER BY \"number\" DESC LIMIT 1")
  }
}

// MARK: - Model lineage

/// The models that a file has had, the first one first, in a separate table. They are never removed, so that data of an
/// earlier model can always be interpreted.
enum ModelLineage {
  /// Adds a model, after the versions of the steps that the file does not need any more.
  static func add(_ model: StoredModel, passing steps: [CodedStep], to database: Database) throws(StoreError) {
    for step in steps {
      try add(StoredModel(checksum: step.checksum, version: nil, since: nil, json: step.text), to: database)
    }
    try add(model, to: database)
  }

  /// Adds a model, unless the file has had it before.
  static func add(_ model: StoredModel, to database: Database) throws(StoreError) {
    let statement = try database.prepare(
      "INSERT INTO \(SQLName.models) (\"checksum\", \"version\", \"since\", \"json\") VALUES (?1, ?2, ?3, ?4) "
        + "ON CONFLICT (\"checksum\") DO NOTHING")
    defer { _ = trellis_sqlite3_finalize(statement.pointer) }
    let values: [StoredValue] = [
      .text(model.checksum), model.version.map { .text($0) } ?? .null, model.since.map { .integer($0) } ?? .null,
      .text(model.json),
    ]
    for (place, value) in values.enumerated() {
      try database.check(
        try database.bind(value, .plain, Int32(place + 1), statement.pointer), doing: "bind a value")
    }
    _ = try database.step(statement.pointer, doing: "write what the file is")
  }

  /// Replaces the models of a file without objects by the ones that another store had, and its current one.
  static func begin(
    with former: [StoreLineage.FormerModel], before present: StoredModel, in database: Database
  ) throws(StoreError) {
    if former.isEmpty { return }
    try database.execute("DELETE FROM \(SQLName.models)", doing: "write what the file is")
    var since: Int64?
    for model in former {
      let stored = StoredModel(checksum: model.checksum, version: model.version, since: since, json: model.json)
      try add(stored, to: database)
      since = model.replaced
    }
    var present = present
    present.since = since
    try add(present, to: database)
  }

  /// The number of a model that the file has or had. Nil if there is none.
  static func number(of checksum: String, in database: Database) throws(StoreError) -> Int64? {
    let statement = try database.prepare("SELECT \"number\" FROM \(SQLName.models) WHERE \"checksum\" = ?1")
    defer { _ = trellis_sqlite3_finalize(statement.pointer) }
    try database.check(try database.bind(.text(checksum), .plain, 1, statement.pointer), doing: "bind a value")
    guard try database.step(statement.pointer, doing: "read what the file is") else { return nil }
    return trellis_sqlite3_column_int64(statement.pointer, 0)
  }

  /// The model with a number. Nil if there is none.
  static func model(_ number: Int64, in database: Database) throws(StoreError) -> Model? {
    let statement = try database.prepare(
      "SELECT \"checksum\", \"json\" FROM \(SQLName.models) WHERE \"number\" = ?1")
    defer { _ = trellis_sqlite3_finalize(statement.pointer) }
    try database.check(trellis_sqlite3_bind_int64(statement.pointer, 1, number), doing: "bind a value")
    guard try database.step(statement.pointer, doing: "read what the file is"),
      let checksum = database.text(of: statement.pointer), let json = database.text(of: statement.pointer, 1)
    else { return nil }
    return try StoredModelReading.model(json, checksum: checksum, of: database.path)
  }

  /// Whether the file has or had a model.
  static func contains(_ checksum: String, in database: Database) throws(StoreError) -> Bool {
    let statement = try database.prepare("SELECT 1 FROM \(SQLName.models) WHERE \"checksum\" = ?1")
    defer { _ = trellis_sqlite3_finalize(statement.pointer) }
    try database.check(try database.bind(.text(checksum), .plain, 1, statement.pointer), doing: "bind a value")
    return try database.step(statement.pointer, doing: "read what the file is")
  }

  /// The models of the file, the newest last.
  static func all(in database: Database) throws(StoreError) -> [StoredModel] {
    let statement = try database.prepare(
      "SELECT \"checksum\", \"version\", \"json\", \"since\" FROM \(SQLName.models) ORDER BY \"number\"")
    defer { _ = trellis_sqlite3_finalize(statement.pointer) }
    var models: [StoredModel] = []
    while try database.step(statement.pointer, doing: "read what the file is") {
      guard let checksum = database.text(of: statement.pointer), let json = database.text(of: statement.pointer, 2)
      else { throw SQLiteErrors.damaged(database.path, "it does not say which models it had") }
      let hasDate = trellis_sqlite3_column_type(statement.pointer, 3) == TRELLIS_SQLITE_INTEGER
      models.append(
        StoredModel(
          checksum: checksum, version: database.text(of: statement.pointer, 1),
          since: hasDate ? trellis_sqlite3_column_int64(statement.pointer, 3) : nil, json: json))
    }
    return models
  }

  /// The program's model, with the current time.
  static func present(_ model: Model) -> StoredModel {
    StoredModel(
      checksum: model.checksum, version: model.description.version,
      since: Int64(Date().timeIntervalSince1970 * 1_000_000), json: model.description.canonicalJSON())
  }
}

extension SQLiteStore {
  /// The models that the file has and had, the newest last. Empty if the file does not keep them, until this version of
  /// Trellis saves to it.
  ///
  /// - Throws: ``StoreError``.
  package func models() throws -> [StoredModel] {
    let connection = try take()
    defer { giveBack(connection) }
    return try Metadata.head(of: connection.database).hasModels ? ModelLineage.all(in: connection.database) : []
  }
}
