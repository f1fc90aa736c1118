import TrellisModel
@_spi(Generated) import TrellisRuntime

/// The links of which members are not known yet, by object and relationship.
///
/// They are carried out again at the end of the import. A later record that has the same link of the same object takes the
/// place of the one before, as it does for values.
final class OpenLinks {
  private struct Place: Hashable {
    let object: Int64
    let relationship: ObjectIdentifier
  }

  private var records: [Place: (record: ImportRecord, link: Int)] = [:]

  /// Whether a link of an object is open.
  func contains(_ relationship: Relationship, of object: ManagedObject) -> Bool {
    !records.isEmpty
      && records[Place(object: object._key, relationship: ObjectIdentifier(relationship))] != nil
  }

  /// Notes that a link of a record is open.
  func note(_ link: Int, of record: ImportRecord, _ object: ManagedObject) {
    let relationship = record.map.links[link].relationship
    records[Place(object: object._key, relationship: ObjectIdentifier(relationship))] = (record, link)
  }

  /// Forgets the open link of an object, because another record has the link as well.
  func close(_ relationship: Relationship, of object: ManagedObject) {
    if records.isEmpty { return }
    let former = records.removeValue(
      forKey: Place(object: object._key, relationship: ObjectIdentifier(relationship)))
    if let former { former.record.openLinks.remove(former.link) }
  }
}
