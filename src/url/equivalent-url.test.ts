import { expect, it } from "vitest";
import { equivalentUrl } from "./index.ts";

it.each([
  ["http://www.example.org/?lang=is", "org,example)/"],
  ["http://example.org", "org,example)/"],
  ["http://www3.example.org/a/b/?x=1&y=2", "org,example)/a/b"],
  ["https://example.org:443/A/B", "org,example)/a/b"],
  ["http://example.org:8080/a", "org,example:8080)/a"],
  ["http://example.org/a;jsessionid=0A?b", "org,example)/a"],
  ["http://example.org/a;v=1/b;w=2/", "org,example)/a/b"],
  ["http://example.org/a/;x/;y", "org,example)/a"],
  ["http://example.org/;x", "org,example)/"],
  ["http://example.org/a%3fb?c", "org,example)/a?b"],
  ["http://example.org/index.html", "org,example)/index.html"],
  ["mailto:a@example.org?subject=b", "mailto:a@example.org?subject=b"],
  ["dns:www.example.org", "dns:www.example.org"],
  ["filedesc://A.arc", "filedesc://A.arc"],
  ["", "-"],
])("%j is equivalent to %j", (url, equivalent) => {
  expect(equivalentUrl(url)).toBe(equivalent);
});
