// The advice for a value that is not allowed in a script.

import Testing

@testable import Expressions

struct `The place of a variable in a script` {
  @Test(arguments: [
    ("echo ", #""$V""#), ("echo a\"b\" ", #""$V""#), ("echo \"title ", "${V}"),
    ("echo 'it is ", #"'"$V"'"#), ("echo \\\" ", #""$V""#), ("echo \"a \\\" ", "${V}"),
    ("cat <<EOF\n", "${V}"), ("cat <<-EOF\n'", "${V}"), ("cat <<<x\necho ", #""$V""#),
    ("echo 'a' \"b\" '", #"'"$V"'"#),
  ])
  func `is read as the quotes around it need it`(before: String, reference: String) {
    let advised = ShellSurroundings(after: before.utf8).reference(to: "VALUE")
    #expect(advised.replacing("VALUE", with: "V") == reference)
  }
}
