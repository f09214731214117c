import fc from "fast-check";
import { expect, test } from "vitest";
import { formatIso, formatTimestamp, parseHttpDate, parseIso, parseTime, parseTimestamp } from "./timestamp.ts";

const iso = (time: number | undefined) => (time === undefined ? undefined : new Date(time).toISOString());

test.each([
  ["2019", "2019-01-01T00:00:00.000Z", "2019-12-31T23:59:59.999Z"],
  ["20191", "2019-10-01T00:00:00.000Z", "2019-12-31T23:59:59.999Z"],
  ["20190", "2019-01-01T00:00:00.000Z", "2019-09-30T23:59:59.999Z"],
  ["201904", "2019-04-01T00:00:00.000Z", "2019-04-30T23:59:59.999Z"],
  ["201902", "2019-02-01T00:00:00.000Z", "2019-02-28T23:59:59.999Z"],
  ["202002", "2020-02-01T00:00:00.000Z", "2020-02-29T23:59:59.999Z"],
  ["190002", "1900-02-01T00:00:00.000Z", "1900-02-28T23:59:59.999Z"],
  ["200002", "2000-02-01T00:00:00.000Z", "2000-02-29T23:59:59.999Z"],
  ["2019043", "2019-04-30T00:00:00.000Z", "2019-04-30T23:59:59.999Z"],
  ["2019040", "2019-04-01T00:00:00.000Z", "2019-04-09T23:59:59.999Z"],
  ["20190401", "2019-04-01T00:00:00.000Z", "2019-04-01T23:59:59.999Z"],
  ["201904012", "2019-04-01T20:00:00.000Z", "2019-04-01T23:59:59.999Z"],
  ["2019040113", "2019-04-01T13:00:00.000Z", "2019-04-01T13:59:59.999Z"],
  ["20190401134", "2019-04-01T13:40:00.000Z", "2019-04-01T13:49:59.999Z"],
  ["201904011347", "2019-04-01T13:47:00.000Z", "2019-04-01T13:47:59.999Z"],
  ["20190401134705", "2019-04-01T13:47:05.000Z", "2019-04-01T13:47:05.999Z"],
  ["201904011347051", "2019-04-01T13:47:05.100Z", "2019-04-01T13:47:05.199Z"],
  ["2019040113470512", "2019-04-01T13:47:05.120Z", "2019-04-01T13:47:05.129Z"],
  ["20190401134705123", "2019-04-01T13:47:05.123Z", "2019-04-01T13:47:05.123Z"],
  ["0000", "0000-01-01T00:00:00.000Z", "0000-12-31T23:59:59.999Z"],
  ["00700229", undefined, undefined],
  ["00960229", "0096-02-29T00:00:00.000Z", "0096-02-29T23:59:59.999Z"],
  ["99991231235959", "9999-12-31T23:59:59.000Z", "9999-12-31T23:59:59.999Z"],
  ["20161231235960", "2017-01-01T00:00:00.000Z", "2017-01-01T00:00:00.999Z"],
  ["20190229", undefined, undefined],
  ["20190431", undefined, undefined],
  ["20191301", undefined, undefined],
  ["20190001", undefined, undefined],
  ["20190100", undefined, undefined],
  ["2019010124", undefined, undefined],
  ["201901010060", undefined, undefined],
  ["20190101000061", undefined, undefined],
  ["201904011347051234", undefined, undefined],
  ["201", undefined, undefined],
  ["", undefined, undefined],
  ["2019-04-01", undefined, undefined],
  ["２０１９", undefined, undefined],
])("%s lasts from %s to %s", (digits, start, end) => {
  expect(iso(parseTimestamp(digits))).toBe(start);
  expect(iso(parseTimestamp(digits, "end"))).toBe(end);
});

test.each([
  ["2019-04-01T13:47:05Z", "2019-04-01T13:47:05.000Z"],
  ["2019-04-01t13:47:05z", "2019-04-01T13:47:05.000Z"],
  ["2019-04-01 13:47:05", "2019-04-01T13:47:05.000Z"],
  [" 2019-04-01T13:47Z\n", "2019-04-01T13:47:00.000Z"],
  ["2019-04-01", "2019-04-01T00:00:00.000Z"],
  ["2019-04", "2019-04-01T00:00:00.000Z"],
  ["2019", "2019-01-01T00:00:00.000Z"],
  ["2019-04-01T13:47:05.1Z", "2019-04-01T13:47:05.100Z"],
  ["2019-04-01T13:47:05,12Z", "2019-04-01T13:47:05.120Z"],
  ["2019-04-01T13:47:05.123456Z", "2019-04-01T13:47:05.123Z"],
  ["2019-04-01T13:47:05.999999999Z", "2019-04-01T13:47:05.999Z"],
  ["2019-04-01T13:47:05+02:00", "2019-04-01T11:47:05.000Z"],
  ["2019-04-01T13:47:05.5-0930", "2019-04-01T23:17:05.500Z"],
  ["2020-01-01T00:30:00+01:00", "2019-12-31T23:30:00.000Z"],
  ["2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000Z"],
  ["0070-02-28T00:00:00Z", "0070-02-28T00:00:00.000Z"],
  ["2000-02-29T00:00:00Z", "2000-02-29T00:00:00.000Z"],
  ["1900-02-29T00:00:00Z", undefined],
  ["2019-13-01T00:00:00Z", undefined],
  ["2019-04-31T00:00:00Z", undefined],
  ["2019-04-01T24:00:00Z", undefined],
  ["2019-04-01T13:47:05.1234567890Z", undefined],
  ["2019-04-01T13:47:05.Z", undefined],
  ["2019-4-1", undefined],
  ["20190401134705", undefined],
  ["Mon, 01 Apr 2019 13:47:05 GMT", undefined],
  ["", undefined],
])("%j is %s", (text, time) => {
  expect(iso(parseIso(text))).toBe(time);
});

test("times are written in whole seconds unless they have milliseconds", () => {
  const time = Date.UTC(2019, 3, 1, 13, 47, 5);
  expect(formatTimestamp(time)).toBe("20190401134705");
  expect(formatTimestamp(time + 999)).toBe("20190401134705");
  expect(formatIso(time)).toBe("2019-04-01T13:47:05Z");
  expect(formatIso(time + 7)).toBe("2019-04-01T13:47:05.007Z");
  expect(formatIso(-1000)).toBe("1969-12-31T23:59:59Z");
  expect(formatTimestamp(parseTimestamp("0070")!)).toBe("00700101000000");
});

const time = fc.integer({
  min: Date.UTC(2000, 0) - 2000 * 365.25 * 86_400_000 + 86_400_000 * 20,
  max: 253402300799999,
});

test("what is written is read as the same", () => {
  fc.assert(
    fc.property(time, (ms) => {
      expect(parseIso(formatIso(ms))).toBe(ms);
      const seconds = Math.floor(ms / 1000) * 1000;
      expect(parseTimestamp(formatTimestamp(ms))).toBe(seconds);
      expect(parseTimestamp(formatTimestamp(ms), "end")).toBe(seconds + 999);
      expect(parseTimestamp(new Date(ms).toISOString().replace(/\D/g, ""))).toBe(ms);
    }),
  );
});

test("what is written plainly is read as every other form is", () => {
  const pair = fc.integer({ min: 0, max: 61 }).map((number) => String(number).padStart(2, "0"));
  const digits = fc.tuple(pair, pair, pair, pair, pair, pair, pair);
  const spoilt = fc.option(fc.tuple(fc.nat({ max: 18 }), fc.constantFrom(" ", "-", ":", "T", "x", "\u0660")));
  fc.assert(
    fc.property(digits, spoilt, ([century, year, month, day, hour, minute, second], spoil) => {
      let text = `${century}${year}-${month}-${day}T${hour}:${minute}:${second}`;
      if (spoil !== null) text = text.slice(0, spoil[0]) + spoil[1] + text.slice(spoil[0] + 1);
      expect(parseIso(`${text}Z`)).toBe(parseIso(`${text}z`));
    }),
    { numRuns: 2000 },
  );
});

test("fewer digits span more time", () => {
  fc.assert(
    fc.property(time, fc.integer({ min: 4, max: 17 }), (ms, count) => {
      const digits = new Date(ms).toISOString().replace(/\D/g, "").slice(0, count);
      expect(parseTimestamp(digits)).toBeLessThanOrEqual(ms);
      expect(parseTimestamp(digits, "end")).toBeGreaterThanOrEqual(ms);
    }),
  );
});

test("no digits make it throw", () => {
  const digits = fc.string({ unit: fc.integer({ min: 0, max: 9 }).map(String), maxLength: 19 });
  fc.assert(
    fc.property(digits, fc.constantFrom("start", "end"), (text, padding) => {
      const parsed = parseTimestamp(text, padding);
      if (parsed !== undefined) expect(Number.isSafeInteger(parsed)).toBe(true);
    }),
  );
});

test("what people type", () => {
  expect(parseTime("now", 5)).toBe(5);
  expect(parseTime("2019", 5)).toBe(Date.UTC(2019, 0));
  expect(parseTime("2019", 5, "end")).toBe(Date.UTC(2020, 0) - 1);
  expect(parseTime("2019-04-01", 5)).toBe(Date.UTC(2019, 3, 1));
});

test.each([
  ["2018", "2018"],
  ["201803", "2018-03"],
  ["20180321", "2018-03-21"],
  ["2018032108", "2018-03-21T08"],
  ["201803210815", "2018-03-21 08:15"],
  ["201803210815", "2018-03-21T08:15Z"],
  ["20180321081504", "2018-03-21T08:15:04Z"],
  ["20180321081504", "20180321T081504Z"],
])("%s means the same as %s", (digits, other) => {
  for (const padding of ["start", "end"] as const) {
    expect(parseTime(other, 5, padding)).toBe(parseTime(digits, 5, padding));
    expect(parseTime(digits, 5, padding)).toBe(parseTimestamp(digits, padding));
  }
});

test("what has fractions or a zone is a moment", () => {
  for (const padding of ["start", "end"] as const) {
    expect(parseTime("2018-03-21T08:15:04.5Z", 5, padding)).toBe(Date.UTC(2018, 2, 21, 8, 15, 4, 500));
    expect(parseTime("2018-03-21T08:15:04+01:00", 5, padding)).toBe(Date.UTC(2018, 2, 21, 7, 15, 4));
  }
});

test.each(["yesterday", "201", "20189", "2018032", "99999", " 2018", "2018 ", "2018-3", "2018-13", "20180321T0", ""])(
  "%j is no time",
  (text) => {
    expect(() => parseTime(text, 5)).toThrow(expect.objectContaining({ code: "HT_USAGE" }));
  },
);

test.each([
  ["Sun, 06 Nov 1994 08:49:37 GMT", "1994-11-06T08:49:37.000Z"],
  ["Sunday, 06-Nov-94 08:49:37 GMT", "1994-11-06T08:49:37.000Z"],
  ["Sun Nov  6 08:49:37 1994", "1994-11-06T08:49:37.000Z"],
  ["Sunday, 06-Nov-06 08:49:37 GMT", "2006-11-06T08:49:37.000Z"],
  [" 6 nov 1994 8:49:37 ", "1994-11-06T08:49:37.000Z"],
  ["Sun, 06 Nov 1994 08:49:37 +0130", "1994-11-06T07:19:37.000Z"],
  ["Thu, 01 Jan 1970 00:00:00 GMT", "1970-01-01T00:00:00.000Z"],
  ["Fri, 31 Dec 2100 23:59:60 UTC", "2101-01-01T00:00:00.000Z"],
  ["Sun, 31 Feb 1994 08:49:37 GMT", undefined],
  ["Sun, 06 Foo 1994 08:49:37 GMT", undefined],
  ["Sun, 06 Nov 1994 08:49:37 EST", undefined],
  ["Sun, 06 Nov 1994", undefined],
  ["0", undefined],
  ["-1", undefined],
  ["", undefined],
  ["\0".repeat(100_000), undefined],
])("in a header %j is %s", (text, time) => {
  expect(iso(parseHttpDate(text))).toBe(time);
});

test("the ISO form is that of Date, whatever the time", () => {
  const time = fc.oneof(fc.integer({ min: -1e15, max: 1e15 }), fc.integer({ min: 0, max: 2e12 }), fc.nat(2000));
  fc.assert(
    fc.property(time, (timeMs) => {
      const text = new Date(timeMs).toISOString();
      expect(formatIso(timeMs)).toBe(timeMs % 1000 === 0 ? text.replace(/\.000Z$/, "Z") : text);
    }),
  );
});
