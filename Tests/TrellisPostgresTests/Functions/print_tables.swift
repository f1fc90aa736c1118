import Foundation

// Prints what folding does to each scalar, for make_functions.py: whether it is a diacritic, its combining class, its
// folded form, NFD and NFC, and whether it is a mark that servers with an older version of Unicode do not know. Then the
// ranges of scalars with a role in searches: letters of scripts that join words, other letters, marks, and what is not
// assigned.

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

func role(_ scalar: Unicode.Scalar) -> String {
  switch SearchScalar(scalar) {
  case .joined: "joined"
  case .spaced: "spaced"
  case .mark: "joinedmarks"
  case .separator: scalar.properties.generalCategory == .unassigned ? "unassigned" : ""
  }
}

var run = (role: "", start: UInt32(0))
for value in UInt32(0x80)...0x110000 {
  let scalar = Unicode.Scalar(value)
  if scalar == nil && value < 0x110000 { continue }
  let found = scalar.map(role) ?? ""
  if found == run.role { continue }
  // Between the planes of surrogates nothing has a role.
  if !run.role.isEmpty {
    print("role", run.role, String(run.start, radix: 16), String(value - 1, radix: 16), separator: ";")
  }
  run = (found, value)
}
