import Foundation

/// When the files of a store can be read on a device with data protection: iOS, iPadOS, tvOS, watchOS and visionOS. Other
/// systems have none.
///
/// The classes are those of Apple's *Encrypting Your App's Files*. The class applies to the file and to those that SQLite
/// keeps beside it, and to the folder of external data from the first opening that finds it.
public struct StoreFileProtection: Hashable, Sendable {
  /// The flag of `sqlite3_open_v2` on Apple's systems, as its header `sqlite3.h` declares it.
  let openFlag: Int
  /// The name of the class in the attributes of a file.
  let name: String

  /// The files can be read while the device is unlocked. A program that runs while it is locked gets `input-output`.
  public static let complete = StoreFileProtection(openFlag: 0x0010_0000, name: "NSFileProtectionComplete")
  /// Files that are open when the device is locked stay readable.
  public static let completeUnlessOpen = StoreFileProtection(
    openFlag: 0x0020_0000, name: "NSFileProtectionCompleteUnlessOpen")
  /// The files can be read from the first time that the device was unlocked after it was started. Widgets and background
  /// tasks need this one or ``none``.
  public static let completeUntilFirstUserAuthentication = StoreFileProtection(
    openFlag: 0x0030_0000, name: "NSFileProtectionCompleteUntilFirstUserAuthentication")
  /// The files can always be read.
  public static let none = StoreFileProtection(openFlag: 0x0040_0000, name: "NSFileProtectionNone")
}

/// What the system does with the files of a store.
struct FileMarks: Sendable {
  var protection: StoreFileProtection?
  var isInBackup = true

  /// The flags with which SQLite opens the file and makes those beside it.
  var openFlags: Int32 {
    #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
      Int32(protection?.openFlag ?? 0)
    #else
      0
    #endif
  }

  /// Marks the files of a store that is open. A file that cannot be marked is used as it is.
  func mark(_ path: String) {
    #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS) || os(macOS)
      for end in ["", "-wal", "-shm", ".external"] {
        var url = URL(filePath: path + end)
        guard FileManager.default.fileExists(atPath: url.path) else { continue }
        #if !os(macOS)
          if let protection {
            try? FileManager.default.setAttributes(
              [.protectionKey: FileProtectionType(rawValue: protection.name)], ofItemAtPath: url.path)
          }
        #endif
        var values = URLResourceValues()
        values.isExcludedFromBackup = !isInBackup
        if !isInBackup { try? url.setResourceValues(values) }
      }
    #endif
  }
}
