// The command: arguments in, exit status out.
import Execution
