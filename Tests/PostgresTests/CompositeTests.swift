import Postgres
import TestSupport
import Testing

@Suite final class CompositeTests: EmptyDatabaseSuite {
  @Test func aCompositeValueHasItsFieldsInOrder() throws {
    let result = try connection.execute(
      """
      select row(7::bigint, null::text, 'é', '', 1.5::float8, true, 3::int2,
                 timestamptz '2000-01-01 00:00:01Z', array['a', 'b'], array[]::text[])
      """, format: .binary)
    var fields = try #require(CompositeFields(result.binary(0, 0)))
    #expect(fields.next().integer == 7)
    #expect(fields.next().isNull)
    #expect(fields.next().text == "é")
    #expect(fields.next().text == "")
    #expect(fields.next().double == 1.5)
    #expect(fields.next().bool == true)
    fields.skip(1)
    #expect(fields.next().timestamp == 946_684_801_000_000)
    #expect(fields.next().textArray == ["a", "b"])
    #expect(fields.next().textArray == [])
    // After the last.
    #expect(fields.next().isNull)
  }
}
