extension ModelDescription {
  /// A checksum of the model: 64-bit FNV-1a over ``canonicalJSON()``, as sixteen hexadecimal digits.
  ///
  /// The checksum detects changed models, whether changed by accident or on purpose. It is no protection against
  /// forgery: code that can write a store's checksum can also write the store. The function and its constants are those
  /// of Fowler, Noll and Vo.
  ///
  /// - Complexity: linear in the length of the JSON text.
  package var checksum: String {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in canonicalJSON().utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
    let digits = String(hash, radix: 16)
    return String(repeating: "0", count: 16 - digits.utf8.count) + digits
  }
}
