// The calendar: a moment as people and RFC 3339 write it. It knows nothing about time zones and
// clocks.

/// A moment in UTC, to the second.
package struct UTCTime {
  package let year: Int
  /// The month, counted from 1 like the day.
  package let month: Int
  package let day: Int
  package let hour: Int
  package let minute: Int
  package let second: Int

  /// Converts a time with Howard Hinnant's algorithm `civil_from_days`.
  package init(secondsSince1970 seconds: Int) {
    let (days, time) = (seconds / 86_400, seconds % 86_400)
    // The year begins in March here, so that the leap day is the last one.
    let day = days + 719_468
    let era = day / 146_097
    let dayOfEra = day % 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
    self.day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    (hour, minute, second) = (time / 3600, time / 60 % 60, time % 60)
  }

  /// A form that sorts by time and can be the name of a directory: `20260402-101502`.
  package var compact: String {
    "\(year)\(digits(month))\(digits(day))-\(digits(hour))\(digits(minute))\(digits(second))"
  }

  /// The form of RFC 3339 without the zone: `2026-04-02T10:15:02`.
  package var text: String {
    "\(year)-\(digits(month))-\(digits(day))T\(digits(hour)):\(digits(minute)):\(digits(second))"
  }
}

/// A number in two digits.
private func digits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
