// Command lines as people write them, and their words. `/ROOT` stands for the sandbox's folder.

/// A command line that needs no shell, and the words of it.
struct DirectLine: Sendable {
  let text: String
  let words: [String]

  init(_ text: String, _ words: [String]) {
    self.text = text
    self.words = words
  }
}

let directLines: [DirectLine] =
  wordsAsTheyStand.map { DirectLine($0, $0.split(separator: " ").map(String.init)) }
  + quotedLines.map { DirectLine($0.0, $0.1) }

/// Lines whose words are separated by single spaces.
private let wordsAsTheyStand = [
  "make", "make -j4 all", "make test CFLAGS=-O2", "make -C src install PREFIX=/usr/local",
  "cc -O2 -Wall -c src/main.c -o build/main.o", "cc -o app a.o b.o -lm",
  "gcc -DNAME=value -I./include -std=c11 x.c", "clang++ -std=c++20 -o out in.cpp",
  "ld -shared -o libx.so.1 x.o", "ar rcs libx.a x.o y.o",
  "swift build", "swift build -c release --product oprun", "swift test --parallel",
  "swift format lint --strict -r Sources Tests", "swiftc -O -o hello hello.swift",
  "cargo build --release", "cargo test --workspace --all-features", "cargo clippy -- -D warnings",
  "go build ./...", "go test -race -count=1 ./...", "go vet ./cmd/...",
  "npm ci", "npm run build", "npm run lint -- --fix", "npx tsc --noEmit",
  "yarn install --frozen-lockfile",
  "pnpm -r build", "node dist/index.js", "deno run --allow-read=. main.ts",
  "python3 -m pytest -q tests/", "python3 setup.py sdist", "pip install -r requirements.txt",
  "pip install requests==2.31.0", "poetry run pytest", "tox -e py311", "ruff check .", "mypy src",
  "ruby -Ilib test.rb", "bundle exec rake test", "rake db:migrate", "php artisan migrate",
  "java -jar app.jar", "javac -d out Main.java", "mvn -B -q package", "gradle build --no-daemon",
  "./gradlew assembleRelease", "./configure --prefix=/usr", "./script.sh", "bin/tool --flag",
  "../up/tool", "a/b/../c/tool x", "/ROOT/bin/cc -c x.c", "/ROOT/usr/bin/env FOO=bar",
  "git status", "git fetch --all --prune", "git checkout main", "git diff HEAD~1",
  "git diff HEAD^ HEAD", "git show HEAD^^", "git log v1.0..v2.0", "git log main...topic",
  "git show HEAD:README.md", "git push origin :topic", "git push origin +main:main",
  "git rev-parse @", "git tag v1.2.3", "git archive --format=tar --output=x.tar HEAD",
  "docker build -t name:tag .", "docker run --rm -v /src:/dst image", "docker compose up -d",
  "kubectl apply -f deploy.yaml", "kubectl get pods -n kube-system",
  "terraform apply -auto-approve",
  "terraform plan -out=tf.plan", "ansible-playbook -i hosts site.yml",
  "helm upgrade --install app ./chart",
  "aws s3 sync dist s3://bucket/path", "gcloud auth list",
  "curl -fsSL https://example.com/a.tar.gz",
  "curl -o out.bin http://example.com:8080/x", "wget -q -O - http://example.com/",
  "ssh user@host uptime", "scp file.txt user@host:/tmp/", "rsync -a --delete src/ dst/",
  "tar -xzf a.tar.gz -C out", "tar cf - dir", "zip -r out.zip dir", "unzip -o a.zip",
  "gzip -9 file",
  "cp a b", "cp -r src dst", "mv a.txt b.txt", "rm -rf build", "rm -f x~", "mkdir -p a/b/c",
  "rmdir empty", "ln -s target link", "ln -sfn ../x y", "touch file", "chmod +x script.sh",
  "chmod u=rwx,go=rx file", "chown user:group file", "ls -la", "cat file", "head -n 5 file",
  "tail -n +2 file", "sort -u file", "sort -t: -k1,1 file", "uniq -c file", "wc -l file",
  "cut -d, -f1 file",
  "tr a b", "grep -r pattern .", "grep -E ^start file", "sed -n 3p file", "sed s/a/b/ file",
  "sed -i s,a,b,g file", "awk -f prog.awk file", "find . -name x.c", "find . -exec rm {} +",
  "xargs -I{} cp {} out", "xargs -n1", "diff -u a b", "patch -p1 -i x.patch", "cmp a b",
  "tee out.txt",
  "sleep 0.1", "sleep 5", "date +%s", "date +%Y-%m-%d", "date -u +%H:%M:%S", "env A=1 B=2 tool",
  "env -i tool", "nice -n 10 tool", "nohup tool", "timeout 5 tool", "timeout -k 1s 5s tool",
  "setsid tool", "stdbuf -oL tool", "sudo -n tool", "id -u", "uname -a", "hostname", "whoami",
  "seq 1 10", "expr 1 + 2", "dd if=/dev/zero of=x bs=1M count=1", "sha256sum -c sums.txt",
  "file a.out",
  "strip a.out", "install -m 755 a b", "install -Dm644 a /ROOT/usr/share/a", "df -h .", "du -sh .",
  "ps -ef", "which make", "basename a/b", "dirname a/b", "realpath .", "readlink -f x", "mktemp -d",
  "stat -c %s file", "printenv PATH", "yes", "nproc", "sync", "lsof -i :8080", "openssl version",
  "shellcheck -x script", "ctest --output-on-failure",
  "cmake -S . -B build -DCMAKE_BUILD_TYPE=Release",
  "cmake --build build -j", "ninja -C build", "meson setup build", "bazel build //pkg:target",
  "bazel test //...:all", "protoc --go_out=. x.proto", "psql -c select", "sqlite3 db.sqlite",
  "redis-cli ping", "pre-commit run -a", "black --check .", "tool a=b c==d e:f",
  "tool a#b c##d", "tool a!b c!", "tool !", "tool ! x", "tool % %% 50%", "tool ^ a^b", "tool ] a]b",
  "tool {}", "tool a{}b", "tool , ,, a,b", "tool + - -- @ / .", "tool = == =a", "tool : :: a:",
  "tool if then fi", "tool cd echo test", "tool done", "tool x=if", "1tool a", "tool.sh", "a:b c",
  "a,b c", "tool@2 x", "tool+ x", "_tool x", "tool^ x", "tool] x", "größe --länge=5",
  "tool é Á Ё 日本 🦀",
  "tool ɁʁƁ", "tool a\u{A0}b \u{3000}", "cdx", "ifx a", "echo2 a", "TEST x", "If x", "./test -f x",
  "./echo a", "./if x", "timex", "tool a~b c~", "tool %1", "tool -e +e",
]

/// Lines with quotes or uneven blanks.
private let quotedLines: [(String, [String])] = [
  ("git commit -m \"x y\"", ["git", "commit", "-m", "x y"]),
  ("git commit -m 'x y'", ["git", "commit", "-m", "x y"]),
  ("git commit -m \"it's done\"", ["git", "commit", "-m", "it's done"]),
  ("git commit -m 'say \"hi\"'", ["git", "commit", "-m", "say \"hi\""]),
  ("grep -E '^(a|b)+$' file", ["grep", "-E", "^(a|b)+$", "file"]),
  ("grep 'a*b?[c]' file", ["grep", "a*b?[c]", "file"]),
  ("grep \"a*b?[c]\" file", ["grep", "a*b?[c]", "file"]),
  ("sed 's/\\(a\\)/\\1/' file", ["sed", "s/\\(a\\)/\\1/", "file"]),
  ("awk '{ print $1 }' file", ["awk", "{ print $1 }", "file"]),
  ("awk -F: '$3 > 1000 { print $1; }' f", ["awk", "-F:", "$3 > 1000 { print $1; }", "f"]),
  ("find . -name '*.c'", ["find", ".", "-name", "*.c"]),
  ("find . -name \"*.c\" -newer x", ["find", ".", "-name", "*.c", "-newer", "x"]),
  ("find . -type f '!' -name x", ["find", ".", "-type", "f", "!", "-name", "x"]),
  ("find . '(' -name a ')' -o -name b", ["find", ".", "(", "-name", "a", ")", "-o", "-name", "b"]),
  ("cc '-DNAME=\"a b\"' x.c", ["cc", "-DNAME=\"a b\"", "x.c"]),
  ("cc -DNAME='\"a\"' x.c", ["cc", "-DNAME=\"a\"", "x.c"]),
  ("psql -c 'select 1; select 2'", ["psql", "-c", "select 1; select 2"]),
  ("tool --msg='a b' --x=\"c d\"", ["tool", "--msg=a b", "--x=c d"]),
  ("tool ''", ["tool", ""]),
  ("tool \"\"", ["tool", ""]),
  ("tool '' \"\" ''", ["tool", "", "", ""]),
  ("tool a''b", ["tool", "ab"]),
  ("tool a\"\"b''", ["tool", "ab"]),
  ("tool ''''", ["tool", ""]),
  ("tool 'a'\"b\"c", ["tool", "abc"]),
  ("tool 'it'\"'\"'s'", ["tool", "it's"]),
  ("tool '~' \"~/x\"", ["tool", "~", "~/x"]),
  ("tool '#' \"# x\"", ["tool", "#", "# x"]),
  ("tool ''#x", ["tool", "#x"]),
  ("tool '$HOME' '`id`' '\\'", ["tool", "$HOME", "`id`", "\\"]),
  ("tool '&&' '||' ';' '>' '<'", ["tool", "&&", "||", ";", ">", "<"]),
  ("tool \"a && b\" \"c;d\" \"(e)\"", ["tool", "a && b", "c;d", "(e)"]),
  ("tool \"!\" '!x'", ["tool", "!", "!x"]),
  ("tool '{a,b}' \"{1..3}\"", ["tool", "{a,b}", "{1..3}"]),
  ("tool 'tab\there'", ["tool", "tab\there"]),
  ("tool 'é à' \"日本 語\"", ["tool", "é à", "日本 語"]),
  ("tool \"Á\" 'Ɂ'", ["tool", "Á", "Ɂ"]),
  ("'tool' x", ["tool", "x"]),
  ("\"tool\" x", ["tool", "x"]),
  ("to'ol' x", ["tool", "x"]),
  ("'my tool' x", ["my tool", "x"]),
  ("\"./my tool\" x", ["./my tool", "x"]),
  ("'a;b' x", ["a;b", "x"]),
  ("  tool   a    b  ", ["tool", "a", "b"]),
  ("\ttool\ta\t\tb\t", ["tool", "a", "b"]),
  ("tool a\n", ["tool", "a"]),
  ("tool a \t\n\n", ["tool", "a"]),
  ("make\n", ["make"]),
  ("tool 'a b'\n", ["tool", "a b"]),
]

let shellLines: [String] = [
  // nothing to run
  "", " ", "\t", "\n", "  \n\n", "''", "\"\"", "'' a",
  // several lines
  "a\nb", "\na", "a\n\nb\n", "tool 'a\nb'", "tool \\\n a",
  // lists, pipes, redirections, groups
  "a; b", "a;", "a && b", "a || b", "a & b", "a &", "a | b", "a |& b", "a > f", "a >> f", "a < f",
  "a 2>&1", "a 2>/dev/null", "a &> f", "a <<EOF", "a <<< x", "(a)", "{ a; }", "a >&2", "a<b", "a>b",
  "! a", "!a", "a () { b; }", "tool <(b)", "( a )", "{ a",
  // expansions
  "tool $HOME", "tool ${X}", "tool \"$X\"", "tool \"${X:-y}\"", "tool $(b)", "tool \"$(b)\"",
  "tool `b`",
  "tool \"`b`\"", "tool $((1+1))", "tool $", "tool \"$\"", "$TOOL x", "tool $'a'", "tool $\"a\"",
  "tool *.c", "tool a?c", "tool [ab]", "tool [", "tool a[1]=x", "tool ~", "tool ~/x", "tool ~user",
  "tool a=~", "tool a=~/x", "tool --a=~/x", "tool a:~/x", "tool ''~", "~/bin/tool", "tool {a,b}",
  "tool {1..3}", "tool a{b,c}d", "tool {", "tool }", "tool a}", "tool {a}", "tool {}{a,b}",
  "tool ${", "tool '{'a,b}",
  // escapes
  "tool a\\ b", "tool \\*", "tool \\", "tool \"a\\nb\"", "tool \"\\$X\"", "to\\ol x", "\\tool",
  "tool \\'",
  // comments
  "# a", "#", "tool # a", "tool #a", " #a",
  // quotes that do not end
  "tool 'a", "tool \"a", "tool a'", "tool \"a'", "tool 'a\"", "'", "\"",
  // assignments
  "A=b", "A=b tool", "A= tool", "A=b C=d tool", "A='b c' tool", "A=/usr/bin tool", "A+=b tool",
  "a=b=c tool", "=a b", "./a=b c", "'A=b' tool",
  // jobs and options of the shell
  "%1", "%tool x", "-x tool", "+x tool", "--version", "-", "+", "-c x",
  // control characters
  "tool \u{1}", "tool '\u{1}'", "tool \u{7F}", "tool \"\u{7F}\"", "tool a\rb", "tool a\r",
  "tool\u{B}a",
  "tool \u{C}", "tool \u{1B}[0m", "tool a\0b", "tool '\0'",
  // reserved words
  "if a", "then a", "else", "elif", "fi", "case x in", "esac", "for x in y", "while a", "until a",
  "do a", "done", "function f", "select x", "time tool", "coproc tool", "in x", "{", "}", "!",
  "[[ a ]]", "]]",
  "'if' a",
  // builtins
  ". ./x", ":", ": a b", "[ -f x ]", "[", "alias a", "bg", "break", "builtin cd", "cd", "cd src",
  "chdir src",
  "command tool", "continue", "declare A", "echo", "echo a", "echo 'a\\nb'", "enable", "eval a",
  "exec tool", "exit", "exit 3", "export A", "fc", "fg", "getopts a b", "hash -r", "help",
  "history",
  "jobs", "kill 1", "let 1", "local a", "mapfile a", "popd", "printf a", "pushd a", "pwd", "pwd -P",
  "read a",
  "readonly a", "return", "return 1", "set -e", "shift", "shopt", "source x", "suspend",
  "test -f x",
  "times", "trap a EXIT", "type a", "typeset a", "ulimit -n 5", "umask", "umask 077", "unalias a",
  "unset a",
  "wait", "'cd' src", "\"echo\" a", "e'cho' a",
  "true --help", "true a", "false --version", "true ''",
]
