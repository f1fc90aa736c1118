import Trellis

// What the model of the zoo asks for: without these the golden file does not compile.

extension Animal {
  static func didInsert(_ animal: Animal) {}
  static func didFetch(_ animal: Animal) {}
  static func willSave(_ animal: Animal) throws {}
  static func didSave(_ animal: Animal) {}
  static func willDelete(_ animal: Animal) {}
  static func validateInsert(_ animal: Animal) throws {}
  static func validateUpdate(_ animal: Animal) throws {}
  static func validateDelete(_ animal: Animal) throws {}
}

extension Siamese {
  static func didFetch(_ cat: Siamese) {}
  static func willSave(_ cat: Siamese) {}
  static func validateUpdate(_ cat: Siamese) {}
}

extension Plant {
  static func didInsert(_ plant: Plant) {}
}
