import { expect, it } from "vitest";
import { archiveKey } from "../catalogue/capture-key.ts";
import { lookAlikes } from "./look-alikes.ts";

const PAGE = "http://a.example/data.json";

it.each([
  [`${PAGE}?_=1500183088890`, `${PAGE}?_=1500183099999`],
  [`${PAGE}?a=1&_=1500183088890`, `${PAGE}?a=1`],
  [`${PAGE}?cb=0.8382&b=2`, `${PAGE}?b=2&cb=0.1234567`],
  [`${PAGE}?1500183088890`, `${PAGE}?1500183099999`],
  [`${PAGE}?callback=jQuery1110234_1500183088890`, `${PAGE}?callback=jQuery9999999_1600000000000`],
  [`${PAGE}?t=1500183088`, PAGE],
  [`${PAGE}?nocache=abc`, `${PAGE}?nocache=xyz`],
  [`${PAGE}?utm_source=x&id=3`, `${PAGE}?id=3`],
  [`${PAGE}?__wb_method=POST&a=1&_=1500183088890`, `${PAGE}?__wb_method=POST&a=1&_=7`],
])("%s looks like %s", (one, other) => {
  for (const [a, b] of [
    [one, other],
    [other, one],
  ] as const) {
    const { ranges, isAlike } = lookAlikes(a);
    const key = archiveKey(b);
    expect(isAlike(key)).toBe(true);
    expect(ranges.some(({ from, to }) => `${key}\0` >= from && `${key}\0` < to)).toBe(true);
  }
});

it.each([
  [`${PAGE}?a=1`, `${PAGE}?a=2`],
  [`${PAGE}?t=12`, PAGE],
  [`${PAGE}?_=abc`, PAGE],
  [`${PAGE}?id=1500183088890`, PAGE],
  [`${PAGE}?callback=show`, PAGE],
  [PAGE, "http://a.example/other.json"],
  [PAGE, PAGE],
])("%s does not look like %s", (one, other) => {
  expect(lookAlikes(one).isAlike(archiveKey(other))).toBe(false);
});
