// Values that try to be more than a word, and the positions in scripts where they are inserted.

/// Values that would run `canary` if a shell read them as code in some position. `p` is a harmless
/// program.
let hostileValues = [
  "$(canary)", "`canary`", "; canary", ";canary;", "\ncanary\n", "&canary", "& canary &",
  "| canary",
  "|canary", "|| canary", "&& canary", "a; canary #", "' ; canary ; '", "\" ; canary ; \"",
  "'; canary; echo '", "\"; canary; echo \"", "'$(canary)'", "\"$(canary)\"", "'`canary`'",
  "\\'; canary; \\'", "\\\"; canary; \\\"", "\\", "\\\\", "'", "\"", "''", "'\\''", "\\';canary;'",
  "$'\\'; canary; \\''", "$(canary", "`canary", "${x:-$(canary)}", "${x:-`canary`}", "}$(canary)",
  "} ; canary ; {", ") ; canary ; (", ")\ncanary\n(", "$((a[$(canary)]))", "a[$(canary)]",
  "a[$(canary)]=1", "x[`canary`]", "<(canary)", ">(canary)", "$[a[$(canary)]]", "#\ncanary",
  "*/\ncanary\n/*", "EOF\ncanary", "EOF\ncanary\n", "\nEOF\ncanary\n", "\tEOF\n\tcanary\n", "EOF",
  "E\\\nOF\ncanary\nEOF", "\r\ncanary\r\n", "\u{85}canary\u{2028}canary", "*", "?", "[a-z]*",
  "~", "~root", "$HOME", "${IFS}canary", "{canary,}", "{p,$(canary)}", "!canary", "!!", "^canary^p",
  "-e canary", "--", "-c canary", "a b", " canary", "\tcanary", "canary ", "%1", "@(canary)",
  "é\u{301}; canary", "\u{1F600}$(canary)", "= canary", "x=$(canary)", "PATH=/; canary",
  "function p() { canary; }", "p() { canary; }", "() { :; }; canary", "in\ncanary", "esac\ncanary",
  "done; canary", "fi; canary", "\u{1}\u{7}\u{1b}]0;canary\u{7}", "",
  "x) canary ;; *", "a;;\n*) canary;;", "1;canary", "1)canary", "1]$(canary)", "0,a[$(canary)]",
  "REPLY;canary", "-v x[$(canary)]", "]] ; canary ; [[", "a\0b",
]

/// Values of allowed characters that are nevertheless more than a word in some position.
let plainHostileValues = [
  "EOF", "E", "OF", "EVIL", "eval", "exec", "source", ".", "esac", "done", "fi", "in", "do", "then",
  "PATH=/nowhere", "LD_PRELOAD=./evil.so", "a=b", "x+=1", "2", "10", "-", "--", "-e", "-v", "-eq",
  "%1", "@", "/", "//", "..", "a,b", "1:2", "p=canary", "exit", "return", "alias", "trap", "set",
  "PS4", "IFS", "BASH_ENV=./x", "ENV=./x", "al", "ev", "function", "time", "coproc", "export",
  "=x", "=", "+=", "a+=b", "-oProxyCommand=x", "--upload-pack=x", "-rf", "a,-rf", "x@y", "v1.2",
  "_", "PATH=0", "1,PATH=0",
]

/// Scripts in which `@` stands for the value. `p` prints its arguments.
let valuePlaces = [
  "p @", "p a@", "p @b", "p a@b", "p x=@", "p @ @", "p \"@\"", "p \"a @ b\"", "p '@'", "p 'a @ b'",
  "p \"a\"@'b'", "p \\\n @", "p --flag=@ end", "x=@; p \"$x\"", "x=\"@\" p \"$x\"", "x='@'; p $x",
  "p $(p @)", "p \"$(p @)\"", "p \"$(p \"@\")\"", "p \"$(p '@')\"", "p `p @`", "p \"`p @`\"",
  "p `p '@'`", "# @\np x", "p x # @\np y", "p x #'@\np y", "cat() { :; }; cat <<@\nx\n@\np y",
  "while IFS= read -r l; do p \"$l\"; done <<EOF\na\n@\nEOF\np end",
  "while IFS= read -r l; do p \"$l\"; done <<'EOF'\n@\n@\nEOF\np end",
  "while IFS= read -r l; do p \"$l\"; done <<-EOF\n\tb@\n\t@\n\tEOF\np end",
  "while IFS= read -r l; do p \"$l\"; done <<EOF\nE@\n@F\n@@\nEOF\np end",
  "while IFS= read -r l; do p \"$l\"; done <<EOF\nE\\\n@\nEOF\np end",
  "while IFS= read -r l; do p \"$l\"; done <<EOF\n$(p @) `p @` \"@\" '@' ${u:-@}\nEOF\np end",
  "p <<A 3<<\"B\" @\n@\nA\n@\nB\np @", "if p @; then p @; else p no; fi",
  "p a && p @ || p @ & wait",
  "for x in a @; do p \"$x\"; done", "for @ in a; do p $x; done", "while p @; do break; done",
  "case @ in a) p 1;; @) p 2;; *) p 3;; esac", "case x in @|b) p 1;; x@) p 2;; esac",
  "case x in\n@) p 1\n;;\n*) p 2;; esac", "(p @)", "{ p @; }", "f() { p @; }; f", "f() (p @); f @",
  "f()\n{\np \"$1\"; }; f @", "p $((@))", "p $((1+@))", "p \"$((@ + 1))\"", "p ${u:-@}",
  "p \"${u:-@}\"", "p ${u:-'@'}", "p ${@}", "p ${#@}", "p $x@", "p \"$x@\"", "p ${x}@", "p $1@",
  "p $$@", "p $?@", "p \\$@", "p 2>&1 @", "p @ >/dev/null", "p >/dev/null @", "p @>/dev/null",
  "p </dev/null @", "! p @", "p @ | p @", "p \"@\" '@' @ \"@\"", "p \"'@'\"", "p '\"@\"'",
  "p \"\\\"@\"", "p \\\"@", "p \\'@", "p \\@", "p \"\\@\"", "p [@]", "p [ @ ]", "[ x = @ ] || p no",
  "[ @ = x ] || p no", "test -n @ && p yes", "[ -n @ ] && p yes", "p a;p @;p b", "p;\n\n@\n", "@",
  "@ a", "x=1 @ a", "p | @", "if @; then :; fi", "@=x", "@=x p", "export @", "export y=@; p \"$y\"",
  "readonly z=@; p $z", "eval p @", "eval \"p @\"", "unset @", "read @ <<X\n1\nX\np x",
  "set -- @; p \"$@\"",
  "trap @ EXIT", "trap 'p @' EXIT", "command p @", "exec p @", ". @", "p @ \"${u:-\"@\"}\"",
  "e@l p x", "\"@\" x", "'@' x", "e\"@\" x", "\\@ x", "/bin/sh -c @", "/bin/sh -ec \"@\"",
  "/usr/bin/env /bin/sh -c @", "/usr/bin/env x=@ /bin/sh -c 'p x'", "p /bin/sh -c @ x",
  "/bin/sh -c 'p @'", "p @(x)", "@() { p x; }",
  "while IFS= read -r l; do p \"$l\"; done <<EOF\n@\n@\nEOF\np end",
  "while IFS= read -r l; do p \"$l\"; done <<'EOF'\n@\n  @\n@\nEOF\np end",
  "while IFS= read -r l; do p \"$l\"; done <<-EOF\n\t@\n\t@\n\tEOF\np end",
  "while IFS= read -r l; do p \"$l\"; done <<\\EOF\nE@\n@\nEOF\np end",
  "p <<A 3<<\"B\"\n@\n@\nA\n@\n@\nB\np @",
  "p \"$(while IFS= read -r l; do p \"$l\"; done <<EOF\n@\n@\nEOF\n)\"",
]

/// The same, only for bash.
let bashValuePlaces = [
  "p $'@'", "p $'a\\n@'", "p $'it\\'s @'", "p $\"@\"", "p <<<@", "p <<<\"@\"", "p <(p @)",
  "[[ @ == x ]] || p no", "[[ x == @ ]] || p no", "[[ @ -eq 1 ]] || p no", "[[ 1 -lt @ ]] || p no",
  "[[ x && @ -eq 1 ]] || p no", "[[ ( @ -eq 1 ) ]] || p no", "[[ -v @ ]] || p no",
  "[[ x < @ ]] || p no", "[[ x =~ ^(@|b)$ ]] || p no", "[[ x @ y ]] || p no", "[[ @ @ 1 ]] || p no",
  "((@)) || p no", "(( x = @ )) || p no", "for ((i=@; i<1; i++)); do p x; break; done",
  "let x=@ || p no", "let @ || p no", "a=(@ b); p \"${a[@]}\"", "a[@]=1; p x", "a=([@]=1); p x",
  "declare -i n=@; p $n", "declare -i n; n=@; p $n", "declare @; p x", "local @; p x", "p $[@]",
  "p ${x/@/y}", "p ${x:@}", "p ${a[@]}", "printf -v @ x; p x", "mapfile @ </dev/null",
  "read -r @ <<<x", "[ -v @ ] || p no", "test -v @ || p no", "p &>/dev/null @", "p @ |& p @",
  "coproc p @; wait", "time p @", "function f { p @; }; f", "case x in (@) p 1;; esac",
  "select x in @; do break; done </dev/null", "case x in a) ;& @) p 1;;& *) p 2;; esac",
  "alias q=@; p x", "enable @; p x", "wait -p @ || p x", "p {@,b}", "{ p @; } 2>&1",
  "typeset -i m=@; p $m", "declare -a -i x; x=@; p $x", "declare +x -i x; x=@; p $x",
  "builtin declare -l -i x=@; p $x", "\\declare '-i' x; x=@; p $x", "declare -ai x; x+=(@); p $x",
  "declare -ai x; x=([0]=@); p $x", "declare -i x; x[0]=@; p $x",
  "declare -i x; for x in @; do p $x; done", "declare -i x; printf -v x %s @; p $x",
  "builtin let x=@ || p no", "command let x=@ || p no", "builtin test -v @ || p no",
  "declare -n r=@; p $((r))", "OPTIND=@; p x", "RANDOM=@; p x", "export HISTCMD=@; p x",
]
