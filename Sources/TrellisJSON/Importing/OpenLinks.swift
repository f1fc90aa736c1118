import TrellisModel
@_spi(Generated) import TrellisRuntime

/// The links of which members are not known yet, by object and relationship.
///
/// They are carried out again at the end of the import. A later record that has the same link of the same object takes the
/// place of the one before, as it does for values.
final class OpenLinks {
  /// A relationship of an object.
  struct Place: Hashable {
    private let object: Int64
    private let relationship: ObjectIdentifier

    init(_ relationship: Relationship, of object: ManagedObject) {
      self.object = object._key
      self.relationship = ObjectIdentifier(relationship)
    }
  }

  private var records: [Place: (record: ImportRecord, link: Int)] = [:]
  /// The links that are all carried out at the end, in their order.
  private var postponed: Set<Place> = []

  /// Whether a link of an object waits for the end, with all later ones of the object.
  func isPostponed(_ relationship: Relationship, of object: ManagedObject) -> Bool {
    !postponed.isEmpty && postponed.contains(Place(relationship, of: object))
  }

  /// Notes that a link of a record waits for the end, with all later ones of the object.
  func postpone(_ link: Int, of record: ImportRecord, _ object: ManagedObject) {
    postponed.insert(Place(record.map.links[link].relationship, of: object))
    record.openLinks.insert(link)
  }

  /// Whether a link of an object is open.
  func contains(_ relationship: Relationship, of object: ManagedObject) -> Bool {
    !records.isEmpty && records[Place(relationship, of: object)] != nil
  }

  /// Notes that a link of a record is open.
  func note(_ link: Int, of record: ImportRecord, _ object: ManagedObject) {
    records[Place(record.map.links[link].relationship, of: object)] = (record, link)
  }

  /// Forgets the open link of an object, because another record has the link as well.
  func close(_ relationship: Relationship, of object: ManagedObject) {
    if records.isEmpty { return }
    let former = records.removeValue(forKey: Place(relationship, of: object))
    if let former { former.record.openLinks.remove(former.link) }
  }
}
