// What Swift's own modules of C libraries declare beside the headers: functions with variable arguments, and macros that C alone can
// read. It is compiled into the module of each platform's C library, for `Tests/check_platforms.py` only.

#if os(Windows)
  @_exported public import CRuntime
#else
  @_exported public import CPosix

  public func open(_ path: UnsafePointer<CChar>, _ flags: Int32) -> Int32 { -1 }
  public func open(_ path: UnsafePointer<CChar>, _ flags: Int32, _ mode: mode_t) -> Int32 { -1 }
  public func fcntl(_ file: Int32, _ command: Int32) -> Int32 { -1 }
  public func fcntl(_ file: Int32, _ command: Int32, _ value: Int32) -> Int32 { -1 }
  public func fcntl(_ file: Int32, _ command: Int32, _ pointer: UnsafeMutableRawPointer) -> Int32 { -1 }
  public func ioctl(_ file: CInt, _ request: UInt, _ value: CInt) -> CInt { -1 }
  public func ioctl(_ file: CInt, _ request: UInt, _ pointer: UnsafeMutableRawPointer) -> CInt { -1 }

  public var S_IFMT: mode_t { 0o170000 }
  public var S_IFIFO: mode_t { 0o010000 }
  public var S_IFCHR: mode_t { 0o020000 }
  public var S_IFDIR: mode_t { 0o040000 }
  public var S_IFBLK: mode_t { 0o060000 }
  public var S_IFREG: mode_t { 0o100000 }
  public var S_IFLNK: mode_t { 0o120000 }
  public var S_IFSOCK: mode_t { 0o140000 }

  #if os(macOS)
    public var TIOCGWINSZ: UInt { 0x4008_7468 }
  #endif

  public typealias SignalHandler = @convention(c) (Int32) -> Void
  public var SIG_DFL: SignalHandler? { nil }
  public var SIG_IGN: SignalHandler { unsafeBitCast(1, to: SignalHandler.self) }
#endif

public var errno: Int32 {
  get { 0 }
  set {}
}
