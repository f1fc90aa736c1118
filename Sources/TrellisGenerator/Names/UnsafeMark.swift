/// `unsafe` before accesses to the stored properties of a class.
///
/// They are not checked for exclusive access, which a target under strict memory safety wants to see marked. An object belongs to
/// one isolation domain, and no access of generated code calls anything in between. Compilers before 6.2 know neither the
/// word nor the setting, and the tool is built by the compiler that reads what it writes.
#if compiler(>=6.2)
  let unsafeMark = "unsafe "
#else
  let unsafeMark = ""
#endif
