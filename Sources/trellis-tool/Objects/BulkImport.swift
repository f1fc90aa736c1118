import Foundation
import TrellisCSV
import TrellisModel
import TrellisStorage

/// The import of one CSV file into a new SQLite file, without objects, if nothing more is needed.
enum BulkImport {
  /// - Returns: what was done; nil if nothing was, because the file has to be imported.
  static func run(
    _ description: ModelDescription, _ target: NewStore, _ options: ObjectImport.Options
  ) throws(ToolFailure) -> ImportOutcome? {
    guard let format = options.format, options.inputs.count == 1, let input = options.inputs.first, input.file != "-",
      target.kind == .sqlite, let model = try? Model(description),
      let entity = model.entities.first(where: { $0.name == input.entity }),
      let file = try? Data(contentsOf: URL(filePath: input.file), options: .alwaysMapped)
    else { return nil }
    let rows = BulkRows(format, model, entity: entity.index)
    var counts = (objects: 0, emptyRows: 0)
    do throws(ToolFailure) {
      _ = try target.fill(keepsBroken: true, isChecked: false) { () throws(ToolFailure) in
        do {
          counts = try fill(target, model, rows, file)
        } catch {
          throw ToolFailure(store: error, target.path)
        }
      }
    } catch {
      // An import of the same file tells what is wrong, and where.
      return nil
    }
    return ImportOutcome(inserted: counts.objects, entity.name, emptyRows: counts.emptyRows)
  }

  private static func fill(_ target: NewStore, _ model: Model, _ rows: BulkRows, _ file: Data) throws -> (
    objects: Int, emptyRows: Int
  ) {
    let progress = Progress("rows")
    defer { progress.end() }
    let opened = try target.configuration.open(model)
    defer { opened.close() }
    var counts = (objects: 0, emptyRows: 0)
    let fill = { (writer: any BulkWriter) throws in
      counts = try file.withUnsafeBytes { bytes in
        try rows.write(bytes.bindMemory(to: UInt8.self), to: writer, progress: progress.show)
      }
    }
    if let store = opened as? SQLiteStore { try store.load(StoreLineage(nextKey: 1), fill) }
    return counts
  }
}
