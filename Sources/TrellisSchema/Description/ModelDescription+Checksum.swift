extension ModelDescription {
  /// Sixteen hexadecimal digits that tell one model from another: those of its ``canonicalJSON()`` as 64-bit FNV-1a.
  ///
  /// It finds out by accident or by intention changed models, and is no protection against forged ones; whoever can write a
  /// store's checksum can write the store. The function and its constants are those of Fowler, Noll and Vo.
  ///
  /// - Complexity: linear in the length of the JSON text.
  package var checksum: String {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in canonicalJSON().utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
    let digits = String(hash, radix: 16)
    return String(repeating: "0", count: 16 - digits.utf8.count) + digits
  }
}
