import Foundation

// Prints what folding does to each scalar, for make_functions.py: whether it is a diacritic, its combining class, its
// folded form, NFD and NFC, and whether it is a mark that servers with an older version of Unicode do not know.

func hex(_ scalars: some Sequence<Unicode.Scalar>) -> String {
  scalars.map { String($0.value, radix: 16) }.joined(separator: " ")
}

for value in UInt32(1)...0x10FFFF {
  guard let scalar = Unicode.Scalar(value) else { continue }
  let text = String(scalar)
  let decomposed = text.decomposedStringWithCanonicalMapping.unicodeScalars
  let composed = text.precomposedStringWithCanonicalMapping.unicodeScalars
  let folded = TextFolding.caseFolded(scalar)
  let isMark = TextFolding.isDiacritic(scalar)
  let combining = scalar.properties.canonicalCombiningClass.rawValue
  let isYoung = combining != 0 && (scalar.properties.age.map { $0.major >= 14 } ?? false)
  guard
    isMark || combining != 0 || Array(folded) != [scalar] || Array(decomposed) != [scalar]
      || Array(composed) != [scalar]
  else { continue }
  print(
    String(value, radix: 16), isMark ? 1 : 0, combining, hex(folded), hex(decomposed), hex(composed), isYoung ? 1 : 0,
    separator: ";")
}
