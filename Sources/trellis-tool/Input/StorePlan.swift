import TrellisModel
import TrellisStorage

/// Plans the migration of a store by the model that the store carries.
enum StorePlan {
  static func report(_ path: String, to model: Model) throws(ToolFailure) -> PlanReport {
    let store = StoreConfiguration(
      path, try StoreOperand.Kind(of: path), key: try StoreKey.of(path), migration: .automatic)
    do {
      return PlanReport(try store.plan(model))
    } catch let error as StoreError {
      throw ToolFailure(.failure, "error: \(error)")
    } catch {
      throw ToolFailure(.failure, "error: \(ServerPlace.name(path)) cannot be planned: \(error)")
    }
  }
}
