internal import CSQLite
import Foundation
import TrellisModel

/// The SQL functions of a migration, added to its connection:
/// - `trellis_convert(conversion, value)`: the value in its new form; null if there is none;
/// - `trellis_inline(value)`: the data of a reference to a file; other values as they are;
/// - `trellis_breaks(bound, value)`: whether the value breaks a rule of the bound's attribute;
/// - `trellis_uuid()`: a new random UUID.
final class MigrationFunctions {
  private let conversions: [ValueConversion]
  /// The attributes of the new bounds; nil for bounds of relationships.
  private let bounded: [CheckedAttribute?]
  private let folder: ExternalFolder?
  /// The error that prevented reading a file.
  private(set) var problem: StoreError?

  private init(_ migration: Migration, _ folder: ExternalFolder?) {
    conversions = migration.conversions
    bounded = migration.boundedAttributes
    self.folder = folder
  }

  /// - Returns: the functions. The connection keeps them as well.
  @discardableResult static func add(
    for migration: Migration, _ folder: ExternalFolder?, to database: Database
  ) throws(StoreError) -> MigrationFunctions {
    let functions = MigrationFunctions(migration, folder)
    let all: [(String, Int32, SQLFunction.Body)] = [
      ("trellis_convert", 2, convert), ("trellis_inline", 1, inline), ("trellis_breaks", 2, breaks),
      ("trellis_uuid", 0, uuid),
    ]
    for (name, count, body) in all {
      // The connection releases the functions when it is closed, or at once if this fails.
      let data = Unmanaged.passRetained(functions).toOpaque()
      let code = trellis_sqlite3_create_function_v2(
        database.handle, name, count, Int32(TRELLIS_SQLITE_UTF8 | TRELLIS_SQLITE_DIRECTONLY), data, body, nil, nil
      ) { pointer in
        if let pointer { Unmanaged<AnyObject>.fromOpaque(pointer).release() }
      }
      try database.check(code, doing: "add functions")
    }
    return functions
  }

  /// The functions of a call. Sound because only these functions are registered with this data.
  private static func functions(_ context: OpaquePointer) -> MigrationFunctions? {
    trellis_sqlite3_user_data(context).map { Unmanaged<MigrationFunctions>.fromOpaque($0).takeUnretainedValue() }
  }

  private static let convert: SQLFunction.Body = { context, count, values in
    guard let context, let values, count == 2, let number = values[0], let value = values[1],
      let functions = functions(context)
    else { return }
    let conversion = Int(truncatingIfNeeded: trellis_sqlite3_value_int64(number))
    let stored = SQLFunction.value(value)
    guard !stored.isNull, functions.conversions.indices.contains(conversion),
      let converted = functions.conversions[conversion].convert(stored)
    else { return trellis_sqlite3_result_null(context) }
    SQLFunction.answer(context, converted)
  }

  private static let breaks: SQLFunction.Body = { context, count, values in
    guard let context, let values, count == 2, let number = values[0], let value = values[1],
      let functions = functions(context)
    else { return }
    let bound = Int(truncatingIfNeeded: trellis_sqlite3_value_int64(number))
    guard functions.bounded.indices.contains(bound), let attribute = functions.bounded[bound] else { return }
    var stored = SQLFunction.value(value)
    // The reference to a file says how long the data is.
    if attribute.isData, case .text(let reference) = stored, let file = functions.folder?.file(reference) {
      stored = .file(file)
    }
    SQLFunction.answer(context, .integer(attribute.failures(of: stored).isEmpty ? 0 : 1))
  }

  private static let inline: SQLFunction.Body = { context, count, values in
    guard let context, let values, count == 1, let value = values[0] else { return }
    guard let reference = SQLFunction.text(value) else { return trellis_sqlite3_result_value(context, value) }
    guard let functions = functions(context), let bytes = functions.bytes(reference) else {
      return trellis_sqlite3_result_null(context)
    }
    SQLFunction.answer(context, .blob(bytes))
  }

  private static let uuid: SQLFunction.Body = { context, _, _ in
    guard let context else { return }
    SQLFunction.answer(context, .blob(MigrationValues.newUUID()))
  }

  private func bytes(_ reference: String) -> [UInt8]? {
    do {
      if let file = folder?.file(reference) { return try folder?.bytes(of: file) }
    } catch {
      if problem == nil { problem = error as? StoreError }
      return nil
    }
    if problem == nil {
      problem = StoreError(
        .unreadableValue, "A stored reference to a file is none, so its data cannot come into the row.",
        remedy: "Check the store with the former program.")
    }
    return nil
  }
}
