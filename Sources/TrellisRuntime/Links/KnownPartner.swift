/// What is known about a to-one whose reference is stored in the partner's row.
///
/// It tells where to look: the row of the partner decides whether it is one, see ``ObjectGraph/holder(of:_:)``.
struct KnownPartner {
  let property: Int
  /// The key of the partner in the store when it was read; 0 for none, -1 while it is not known.
  var stored: Int64 = -1
  /// The key of an object whose reference was set to this one here; 0 for none. Of a relationship that is not stored,
  /// the partner.
  var given: Int64 = 0
}

extension ManagedObject {
  final func changePartner(of property: Int, _ change: (inout KnownPartner) -> Void) {
    let extras = needExtras()
    for index in extras.partners.indices where extras.partners[index].property == property {
      return change(&extras.partners[index])
    }
    var made = KnownPartner(property: property)
    change(&made)
    extras.partners.append(made)
  }
}
