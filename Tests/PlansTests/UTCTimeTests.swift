// The calendar, over leap years and centuries.

import Testing

@testable import Plans

struct UTCTimeTests {
  @Test(arguments: [
    (0, "19700101-000000", "1970-01-01T00:00:00"),
    (951_782_399, "20000228-235959", "2000-02-28T23:59:59"),
    (951_782_400, "20000229-000000", "2000-02-29T00:00:00"),
    (951_868_800, "20000301-000000", "2000-03-01T00:00:00"),
    (1_775_124_902, "20260402-101502", "2026-04-02T10:15:02"),
    (4_107_542_399, "21000228-235959", "2100-02-28T23:59:59"),
    (4_107_542_400, "21000301-000000", "2100-03-01T00:00:00"),
  ])
  func `has the date of each day`(seconds: Int, compact: String, text: String) {
    #expect(UTCTime(secondsSince1970: seconds).compact == compact)
    #expect(UTCTime(secondsSince1970: seconds).text == text)
  }
}
