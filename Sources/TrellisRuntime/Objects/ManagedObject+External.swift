public import Foundation
import TrellisSchema
public import TrellisStorage

/// Support for properties with `externalStorage`.
extension ManagedObject {
  /// The bytes of external data. If they cannot be loaded, the failure is reported, as for a row, and the result is
  /// empty.
  @_spi(Generated) public final func _load(_ data: ExternalData, _ property: Int) -> Data {
    do {
      return try data.load()
    } catch {
      reportLoad(of: property, error)
      return Data()
    }
  }

  @_spi(Generated) public final func _load(_ data: ExternalData?, _ property: Int) -> Data? {
    guard let data else { return nil }
    do {
      return try data.load()
    } catch {
      reportLoad(of: property, error)
      return nil
    }
  }

  private final func reportLoad(of property: Int, _ error: any Error) {
    guard let context = link.context else { return reportContextGone(property) }
    let entity = context.runtime.entities[type(of: self)._entity]
    let name = "\(entity.name).\(entity.entity.properties[property].name)"
    context.report(ContextError(.loadFailed, "The data of \(name) could not be loaded.", cause: error))
  }
}
