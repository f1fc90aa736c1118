// The target is its header. SwiftPM needs a file to compile.
#include "TrellisSQLiteFunctions.h"
