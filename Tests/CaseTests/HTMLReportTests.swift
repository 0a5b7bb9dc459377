// The HTML report, in a real browser: hostile names and logs are text, and the page's own script is the
// only one that runs.

import Foundation
import TestSupport
import Testing

@Suite(.blocking) struct HTMLReportTests {
  private static let hostile = """
    name: "</title></script><script>alert(1)</script>"
    max_parallel: 2
    steps:
      - id: build
        name: "<img src=x onerror=alert(2)>"
        run: echo '</script><!--<script>'
      - {id: test, depends_on: [build], matrix: {os: ["<b>", "a&b"]}, run: "true"}
      - {id: bad, depends_on: [test], run: "printf 'one\\n<script>two</script>\\n'; exit 3"}
      - {id: pack, depends_on: [bad], run: "true"}
      - {id: soft, depends_on: [build], run: exit 1, allow_failure: true}
    """

  private func report(of pipeline: String) throws -> (place: Workspace, page: String) {
    let place = try Workspace(named: "report", holding: [])
    try place.write(pipeline, to: "pipeline.yml")
    let end = try place.run(
      "oprun pipeline.yml --output quiet --report report.html >/dev/null 2>&1")
    #expect([0, 1].contains(end.status))
    let file = place.folder.appending(path: "report.html")
    return (place, try String(contentsOf: file, encoding: .utf8))
  }

  @Test func `allows no script but its own`() throws {
    let (place, _) = try report(of: Self.hostile)
    let end = try place.run(
      """
      python3 - <<'END'
      import base64, hashlib, re
      page = open("report.html").read()
      scripts = re.findall(r"<script>(.*?)</script>", page, re.S)
      digest = hashlib.sha256(scripts[0].encode()).digest()
      policy = re.search(r"script-src '(.*?)'", page).group(1)
      own = "sha256-" + base64.b64encode(digest).decode()
      print(len(scripts), policy if policy == own else f"{policy}, wanted {own}" )
      END
      """)
    #expect(end.output.hasPrefix("1 sha256-"))
    #expect(!end.output.contains("wanted"), "\(end.output)")
  }

  @Test func `shows hostile names and logs as text, in a browser`() throws {
    let (place, _) = try report(of: Self.hostile)
    let end = try place.run(
      """
      chromium-headless-shell --no-sandbox --disable-gpu --enable-logging=stderr \\
        --dump-dom "file://$PWD/report.html" >page.html 2>log || echo "NOT TESTED: no browser"
      grep CONSOLE log
      python3 - <<'END'
      import html, re
      page = open("page.html").read()
      text = lambda part: html.unescape(re.sub("<[^>]*>", "", part))
      print(text(re.search("<h1>(.*?)</h1>", page).group(1)))
      rows = [[text(cell) for cell in re.findall("<td.*?</td>", row)]
              for row in re.findall("<tr tabindex.*?</tr>", page)]
      for row in sorted(rows, key=lambda row: row[1]):
          print(row[1], row[0], re.sub("[0-9.]+m?s", "TIME", row[7] or "-"), sep=" | ")
      for tail in re.findall("<pre>(.*?)</pre>", page, re.S):
          print(text(tail))
      END
      """)
    #expect(
      end.output == """
        ✗ </title></script><script>alert(1)</script>
        bad | failed | exit 3 after TIME
        build<img src=x onerror=alert(2)> | succeeded | -
        pack | blocked | 'bad' failed
        soft | failed but allowed | exit 1 after TIME
        test[os=<b>] | succeeded | -
        test[os=a&b] | succeeded | -
        printf 'one
        <script>two</script>
        '; exit 3
        one
        <script>two</script>

        """)
    #expect(end.errors == "")
  }

  /// The second step ends when the page shows that the first one has.
  @Test func `is written while the run lasts`() throws {
    let place = try Workspace(named: "report", holding: [])
    try place.write(
      """
      name: long
      steps:
        - {id: first, run: "true"}
        - id: second
          depends_on: [first]
          timeout: 15m
          run: until grep -q '"id":"first"' report.html 2>/dev/null; do sleep 0.05; done; cp report.html then.html
      """, to: "pipeline.yml")
    let end = try place.run(
      """
      oprun pipeline.yml --output quiet --report report.html
      for page in then report; do
        chromium-headless-shell --no-sandbox --disable-gpu --enable-logging=stderr \
          --dump-dom "file://$PWD/$page.html" >page.html 2>log || echo "NOT TESTED: no browser"
        grep CONSOLE log
        python3 - <<'END'
      import html, re
      page = open("page.html").read()
      number = r"20\\d{6}-[0-9a-z-]+ · .* UTC|[0-9.]+m?s|\\d+%"
      text = lambda part: re.sub(number, "~", html.unescape(re.sub("<[^>]*>", " ", part)))
      print(*(" ".join(text(part).split()) for part in re.findall('<header class="verdict.*?</header>', page, re.S)))
      print(*(" ".join(text(part).split()) for part in re.findall('<div class="card">(.*?)</div>', page, re.S)), sep=", ")
      print(*re.findall(r'<rect class="bar (\\w+)', page))
      END
      done
      """)
    #expect(
      end.output == """
        … long running for ~ when this page was written; reload it for news ~
        1 succeeded, 1 running, ~ so far, ~ of work, 1 at most at once, ~ of the slots used
        good none
        ✓ long ~ · exit 0
        2 succeeded, ~ wall time, ~ of work, 1 at most at once, ~ of the slots used
        good good

        """)
    #expect(end.errors == "")
  }

  /// Times differ from run to run, so the times of the run before are written over; what the second takes must be less
  /// than that, which one of several does.
  @Test func `compares a run with the one before`() throws {
    #expect(try once { try isCompared() })
  }

  private func isCompared() throws -> Bool {
    let place = try Workspace(named: "report", holding: [])
    let first = """
      name: compared
      steps:
        - {id: same, run: "true"}
        - {id: turned, run: "true"}
        - {id: slow, run: "true"}
        - {id: gone, run: "true"}
      """
    try place.write(first, to: "pipeline.yml")
    #expect(try place.run("oprun pipeline.yml --output quiet --report first.html").status == 0)
    try place.write(
      first.replacing("turned, run: \"true\"", with: "turned, run: exit 3")
        .replacing("id: gone", with: "id: fresh"), to: "pipeline.yml")
    let end = try place.run(
      """
      sqlite3 .oprun/state.db "UPDATE result SET duration = CASE
        (SELECT name FROM step WHERE step.id = step) WHEN 'slow' THEN 1000000 ELSE 1000 END;
        UPDATE run SET duration = 3000000"
      oprun pipeline.yml --output quiet --report second.html >/dev/null 2>&1
      oprun report >third.html
      grep -c '"before":' first.html
      for page in second third; do
        chromium-headless-shell --no-sandbox --disable-gpu --enable-logging=stderr \\
          --dump-dom "file://$PWD/$page.html" >page.html 2>log || echo "NOT TESTED: no browser"
        grep CONSOLE log
        python3 - <<'END'
      import html, re
      page = open("page.html").read()
      text = lambda part: html.unescape(re.sub("<[^>]*>", "", part))
      number = lambda part: re.sub("[0-9.]+m?s|[0-9-]+ [0-9:]+ UTC|20[0-9]{6}-[0-9a-z-]+", "~", part)
      items = re.findall("<li>(.*?)</li>", page, re.S)
      print(*(number(text(item)) for item in items), sep="\\n")
      print(re.findall("<th[^>]*>(.*?)</th>", page) and len(re.findall("<th ", page)), "columns")
      END
      done
      """)
    let seen = """
      ~ −~, was ~ in ~ · ~ · exit 0
      turned: failed, was succeeded
      slow: ~ −~, was ~
      new: fresh
      not in this run: gone
      9 columns

      """
    #expect(end.errors == "")
    return end.output == "0\n" + seen + seen
  }

  /// Every instance of a matrix waits for every instance of the one before.
  @Test func `names a matrix that is waited for once, and draws its instances`() throws {
    let wide = { (count: Int) in
      let values = (0..<count).map(String.init).joined(separator: ",")
      return """
        steps:
          - {id: one, matrix: {x: [\(values)]}, run: ["true"]}
          - {id: two, depends_on: [one], matrix: {x: [\(values)]}, run: ["true"]}
          - id: three
            depends_on: [two]
            steps: [{id: in, run: "true"}]
          - {id: four, depends_on: [three, one], run: "true"}
        """
    }
    let (_, page) = try report(of: wide(300))
    #expect(page.utf8.count < 500_000)
    let (place, _) = try report(of: wide(3))
    let end = try place.run(
      """
      chromium-headless-shell --no-sandbox --disable-gpu --enable-logging=stderr \\
        --dump-dom "file://$PWD/report.html" >page.html 2>log || echo "NOT TESTED: no browser"
      grep CONSOLE log
      grep -o '<path class="edge"' page.html | wc -l
      grep -o '"needs":[^]]*]' page.html | sort | uniq -c | sed 's/^ *//'
      """)
    #expect(
      end.output == """
        16
        3 "needs":["one"]
        1 "needs":["one[x=0]
        1 "needs":["three","one"]
        1 "needs":["three/in"]
        1 "needs":["two"]
        1 "needs":["two[x=0]
        3 "needs":[]

        """)
  }

  @Test func `of many steps is small enough to send`() throws {
    let steps = (0..<300).map { "  - {id: step-\($0), run: [\"true\"]}\n" }.joined()
    let (_, page) = try report(of: "steps:\n" + steps)
    #expect(page.utf8.count < 250_000)
  }
}
