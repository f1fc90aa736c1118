import Foundation
import TrellisJSON
import TrellisModel
import TrellisStorage

/// Plans the migration of a store by the model that the store carries.
enum StorePlan {
  static func report(_ path: String, to model: Model) throws(ToolFailure) -> PlanReport {
    guard FileManager.default.fileExists(atPath: path) else {
      throw InputFile.unreadable(path, "There is no such file.")
    }
    let url = URL(fileURLWithPath: path)
    let isDocument = (try? FileHandle(forReadingFrom: url).read(upToCount: 1)) != Data("S".utf8)
    do {
      return PlanReport(try (isDocument ? StoreConfiguration.json(at: url) : .sqlite(at: url)).plan(model))
    } catch let error as StoreError {
      throw ToolFailure(.failure, "error: \(error)")
    } catch {
      throw ToolFailure(.failure, "error: \(path) cannot be planned: \(error)")
    }
  }
}
