// Every key of every table is accepted and refused as its examples say.

import BuiltinSteps
import Diagnostics
import Plans
import Testing

@testable import Pipelines

let tables = [topLevelExamples, stepExamples] + partExamples + inputPartExamples

struct KeyTests {
  @Test func `every key has accepted and refused examples`() {
    for table in tables {
      for row in table.rows where row.key != "steps" {
        let examples = table.keys[row.key]
        #expect(examples?.accepted.isEmpty == false, "\(table.name) \(row.key)")
        #expect(examples?.refused.isEmpty == false, "\(table.name) \(row.key)")
      }
      #expect(table.keys.keys.allSatisfy { key in table.rows.contains { $0.key == key } })
    }
  }

  @Test(arguments: [stopSignals, TestStubKey.signals])
  func `signals that may be named have numbers`(names: [String]) {
    #expect(names.filter { signalNumber(named: $0) == nil } == [])
  }

  @Test func `a condition is of the kind that its key names`() {
    #expect(WaitKey.kinds.map { $0.kind?.rawValue } == WaitKey.kinds.map(\.row.key))
    #expect(WaitKey.kinds.compactMap(\.kind) == ProbeModel.Kind.allCases)
    #expect(BuiltinStep.wait.groups.map(\.keys) == [ProbeModel.Kind.allCases.map(\.rawValue)])
  }

  @Test func `every kind of object has its examples`() {
    for kind in ObjectKind.allCases where kind != .defaults {
      let keys = kind.rows.map(\.key)
      #expect(tables.contains { $0.rows.map(\.key) == keys }, "\(kind.rawValue)")
    }
  }

  @Test func `accepted values are accepted`() {
    for table in tables {
      for (key, examples) in table.keys {
        for value in examples.accepted {
          #expect(messages(table.file("\(key): \(value)")) == [], "\(table.name) \(key): \(value)")
        }
      }
    }
  }

  @Test func `refused values are one error each, in words of their own`() {
    for table in tables {
      for (key, examples) in table.keys {
        for (value, message) in examples.refused {
          let found = messages(table.file("\(key): \(value)")).map {
            String($0.drop { $0 != " " }.dropFirst())
          }
          #expect(found == [message], "\(table.name) \(key): \(value)")
        }
      }
    }
  }

  @Test func `every key is documented and its default is accepted`() {
    for table in tables {
      for row in table.rows {
        #expect(row.doc.hasSuffix("."), "\(table.name) \(row.key)")
        guard let value = row.defaultValue else { continue }
        #expect(messages(table.file("\(row.key): \(value)")) == [], "\(table.name) \(row.key)")
      }
    }
  }
}
