/// The 256-bit secure hash algorithm of FIPS 180-4, for systems without a library that provides it, and for contents that
/// are too small to load one.
struct SHA256 {
  typealias Words = (UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32)

  /// The first 32 bits of the fractional parts of the square roots of the first eight primes.
  private var state: Words = (
    0x6A09_E667, 0xBB67_AE85, 0x3C6E_F372, 0xA54F_F53A, 0x510E_527F, 0x9B05_688C, 0x1F83_D9AB, 0x5BE0_CD19
  )

  /// The bytes that do not fill a block yet.
  private var rest: [UInt8] = []
  private var length = 0

  /// Adds bytes to the message.
  mutating func add(_ bytes: UnsafeRawBufferPointer) {
    length &+= bytes.count
    var bytes = bytes
    if !rest.isEmpty {
      let missing = min(64 - rest.count, bytes.count)
      rest += bytes[..<missing]
      bytes = UnsafeRawBufferPointer(rebasing: bytes[missing...])
      guard rest.count == 64 else { return }
      let block = rest
      rest.removeAll(keepingCapacity: true)
      block.withUnsafeBytes { mixBlocks($0) }
    }
    let whole = bytes.count & ~63
    mixBlocks(UnsafeRawBufferPointer(rebasing: bytes[..<whole]))
    rest += bytes[whole...]
  }

  /// The digest of all added bytes. No bytes may be added afterwards.
  mutating func digest() -> Words {
    Self.padded(rest, length: length).withUnsafeBytes { mixBlocks($0) }
    return state
  }

  private mutating func mixBlocks(_ blocks: UnsafeRawBufferPointer) {
    guard !blocks.isEmpty else { return }
    withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 16) { schedule in
      schedule.initialize(repeating: 0)
      for start in stride(from: 0, to: blocks.count, by: 64) {
        mix(UnsafeRawBufferPointer(rebasing: blocks[start..<start + 64]), schedule)
      }
    }
  }

  /// The padded end of the message: the last bytes, a one bit, zeros, and the length in bits as 64 bits. One or two
  /// blocks.
  private static func padded(_ rest: [UInt8], length: Int) -> [UInt8] {
    var block = rest
    block.append(0x80)
    while block.count % 64 != 56 { block.append(0) }
    let bits = UInt64(truncatingIfNeeded: length) << 3
    for shift in stride(from: 56, through: 0, by: -8) { block.append(UInt8(truncatingIfNeeded: bits >> UInt64(shift))) }
    return block
  }

  /// Processes one block of 64 bytes. The names are those of the standard.
  private mutating func mix(_ block: UnsafeRawBufferPointer, _ w: UnsafeMutableBufferPointer<UInt32>) {
    for t in 0..<16 { w[t] = UInt32(bigEndian: block.loadUnaligned(fromByteOffset: t &* 4, as: UInt32.self)) }
    var (a, b, c, d, e, f, g, h) = state
    Self.constants.withUnsafeBufferPointer { k in
      // Each round turns the names by one, so that no value has to be moved.
      for t in stride(from: 0, to: 64, by: 16) {
        if t > 0 { Self.extend(w) }
        Self.round(a, b, c, &d, e, f, g, &h, k[t] &+ w[0])
        Self.round(h, a, b, &c, d, e, f, &g, k[t &+ 1] &+ w[1])
        Self.round(g, h, a, &b, c, d, e, &f, k[t &+ 2] &+ w[2])
        Self.round(f, g, h, &a, b, c, d, &e, k[t &+ 3] &+ w[3])
        Self.round(e, f, g, &h, a, b, c, &d, k[t &+ 4] &+ w[4])
        Self.round(d, e, f, &g, h, a, b, &c, k[t &+ 5] &+ w[5])
        Self.round(c, d, e, &f, g, h, a, &b, k[t &+ 6] &+ w[6])
        Self.round(b, c, d, &e, f, g, h, &a, k[t &+ 7] &+ w[7])
        Self.round(a, b, c, &d, e, f, g, &h, k[t &+ 8] &+ w[8])
        Self.round(h, a, b, &c, d, e, f, &g, k[t &+ 9] &+ w[9])
        Self.round(g, h, a, &b, c, d, e, &f, k[t &+ 10] &+ w[10])
        Self.round(f, g, h, &a, b, c, d, &e, k[t &+ 11] &+ w[11])
        Self.round(e, f, g, &h, a, b, c, &d, k[t &+ 12] &+ w[12])
        Self.round(d, e, f, &g, h, a, b, &c, k[t &+ 13] &+ w[13])
        Self.round(c, d, e, &f, g, h, a, &b, k[t &+ 14] &+ w[14])
        Self.round(b, c, d, &e, f, g, h, &a, k[t &+ 15] &+ w[15])
      }
    }
    state = (
      state.0 &+ a, state.1 &+ b, state.2 &+ c, state.3 &+ d, state.4 &+ e, state.5 &+ f, state.6 &+ g, state.7 &+ h
    )
  }

  /// Replaces 16 words of the message schedule by the next 16. Written out, since a loop takes an eighth longer.
  @inline(__always) private static func extend(_ w: UnsafeMutableBufferPointer<UInt32>) {
    w[0] = next(w[0], w[1], w[9], w[14])
    w[1] = next(w[1], w[2], w[10], w[15])
    w[2] = next(w[2], w[3], w[11], w[0])
    w[3] = next(w[3], w[4], w[12], w[1])
    w[4] = next(w[4], w[5], w[13], w[2])
    w[5] = next(w[5], w[6], w[14], w[3])
    w[6] = next(w[6], w[7], w[15], w[4])
    w[7] = next(w[7], w[8], w[0], w[5])
    w[8] = next(w[8], w[9], w[1], w[6])
    w[9] = next(w[9], w[10], w[2], w[7])
    w[10] = next(w[10], w[11], w[3], w[8])
    w[11] = next(w[11], w[12], w[4], w[9])
    w[12] = next(w[12], w[13], w[5], w[10])
    w[13] = next(w[13], w[14], w[6], w[11])
    w[14] = next(w[14], w[15], w[7], w[12])
    w[15] = next(w[15], w[0], w[8], w[13])
  }

  @inline(__always) private static func next(_ w0: UInt32, _ w1: UInt32, _ w9: UInt32, _ w14: UInt32) -> UInt32 {
    let s0 = turned(w1, 7) ^ turned(w1, 18) ^ (w1 >> 3)
    let s1 = turned(w14, 17) ^ turned(w14, 19) ^ (w14 >> 10)
    return w0 &+ s0 &+ w9 &+ s1
  }

  /// One round: `d` and `h` become the next `e` and `a`. The choice and the majority of three words are written with
  /// fewer operations than in the standard.
  @inline(__always) private static func round(
    _ a: UInt32, _ b: UInt32, _ c: UInt32, _ d: inout UInt32, _ e: UInt32, _ f: UInt32, _ g: UInt32, _ h: inout UInt32,
    _ word: UInt32
  ) {
    let t1 = h &+ (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) &+ (g ^ (e & (f ^ g))) &+ word
    d = d &+ t1
    h = t1 &+ (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) &+ ((a & b) | (c & (a | b)))
  }

  @inline(__always) private static func turned(_ word: UInt32, _ count: UInt32) -> UInt32 {
    word &>> count | word &<< (32 &- count)
  }

  /// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
  private static let constants: [UInt32] = [
    0x428A_2F98, 0x7137_4491, 0xB5C0_FBCF, 0xE9B5_DBA5, 0x3956_C25B, 0x59F1_11F1, 0x923F_82A4, 0xAB1C_5ED5,
    0xD807_AA98, 0x1283_5B01, 0x2431_85BE, 0x550C_7DC3, 0x72BE_5D74, 0x80DE_B1FE, 0x9BDC_06A7, 0xC19B_F174,
    0xE49B_69C1, 0xEFBE_4786, 0x0FC1_9DC6, 0x240C_A1CC, 0x2DE9_2C6F, 0x4A74_84AA, 0x5CB0_A9DC, 0x76F9_88DA,
    0x983E_5152, 0xA831_C66D, 0xB003_27C8, 0xBF59_7FC7, 0xC6E0_0BF3, 0xD5A7_9147, 0x06CA_6351, 0x1429_2967,
    0x27B7_0A85, 0x2E1B_2138, 0x4D2C_6DFC, 0x5338_0D13, 0x650A_7354, 0x766A_0ABB, 0x81C2_C92E, 0x9272_2C85,
    0xA2BF_E8A1, 0xA81A_664B, 0xC24B_8B70, 0xC76C_51A3, 0xD192_E819, 0xD699_0624, 0xF40E_3585, 0x106A_A070,
    0x19A4_C116, 0x1E37_6C08, 0x2748_774C, 0x34B0_BCB5, 0x391C_0CB3, 0x4ED8_AA4A, 0x5B9C_CA4F, 0x682E_6FF3,
    0x748F_82EE, 0x78A5_636F, 0x84C8_7814, 0x8CC7_0208, 0x90BE_FFFA, 0xA450_6CEB, 0xBEF9_A3F7, 0xC671_78F2,
  ]
}
