// Which variables a script uses without setting them.

import Testing

@testable import Caching

@Test(arguments: [
  ("cc $CFLAGS -o \"${OUT}\" $CFLAGS", ["CFLAGS", "OUT"]),
  ("echo '$A' \\$B \"'$C'\" $$ $1 $? ${#D} ${E:-x}", ["C", "E"]),
  ("A=1 B+=2; echo $A $B $C", ["C"]),
  ("for A in 1 2; do read -r B C; echo $A $B $C $D; done", ["D"]),
  ("# it's $A\necho $B# 'x' \"it's $C\"", ["B", "C"]),
  (". ./env.sh; echo $A", []), ("source env.sh\necho $A", []), ("./x.sh $A", ["A"]),
  ("echo $PWD $RANDOM ${BASH_SOURCE[0]}", []), ("$(X=1 cmd $Y)", ["Y"]), ("\\", []), ("$", []),
])
func `variables that a script sets are not among those that it needs`(
  _ script: String, _ names: [String]
) {
  var script = script
  let found = script.withUTF8 { UsedVariables(in: UnsafeRawBufferPointer($0)).names }
  #expect(found == names)
}
