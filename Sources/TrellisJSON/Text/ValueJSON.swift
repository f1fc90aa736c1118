package import TrellisModel

/// Values in the forms that documents have, for programs that read the output of others.
package enum ValueJSON {
  /// The JSON text of an attribute's value: an enum's raw value, data as Base64, a list or struct as JSON; nil for a
  /// value that is none of the attribute's type.
  package static func text(_ value: StoredValue, of attribute: Attribute) -> String? {
    if value.isNull { return "null" }
    var bytes: [UInt8] = []
    return bytes.append(value, as: ValueForm(attribute)) ? String(decoding: bytes, as: UTF8.self) : nil
  }
}
