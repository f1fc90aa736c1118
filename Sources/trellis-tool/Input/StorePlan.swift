import Foundation
import TrellisJSON
import TrellisModel
import TrellisStorage

/// Plans the migration of a store by the model that the store carries.
enum StorePlan {
  static func report(_ path: String, to model: Model) throws(ToolFailure) -> PlanReport {
    try InputFile.needRegular(path)
    let url = URL(fileURLWithPath: path)
    let store: StoreConfiguration =
      switch StoreFile.Kind(of: url) {
      case .sqlite: .sqlite(at: url)
      case .document: .json(at: url)
      }
    do {
      return PlanReport(try store.plan(model))
    } catch let error as StoreError {
      throw ToolFailure(.failure, "error: \(error)")
    } catch {
      throw ToolFailure(.failure, "error: \(path) cannot be planned: \(error)")
    }
  }
}
