/**
 * URLs that are one but for what scripts put into them against caches: times, random numbers, names of JSONP callbacks.
 * A page that is replayed asks for other ones than it did when it was captured.
 */
import { archiveKey } from "../catalogue/capture-key.ts";

/** A parameter of a query that says nothing of what is asked for. In keys everything is in small letters. */
interface Rule {
  readonly name: RegExp;
  readonly value: RegExp;
}

const ANY = /^/;
/** A number, a UUID, or another text that a script may have made up. */
const MADE_UP = /^(?:[\d.]+|(?=[a-f\d-]*\d)[a-f\d-]{8,})?$/;
/** Seconds, milliseconds or microseconds since 1970, or what Math.random() gives. */
const MOMENT = /^(?:1\d{9}(?:\d{3}){0,2}|0?\.\d{3,}|1\d{9}\.\d+)$/;

const RULES: readonly Rule[] = [
  { name: /^_$/, value: MADE_UP },
  { name: /^(?:no-?_?cache|cache-?_?bust(?:er|ing)?|bust(?:er)?|dc|ord|zx|correlator)$/, value: ANY },
  { name: /^(?:cb|rnd|rand|random|cachekey)$/, value: MADE_UP },
  { name: /^(?:[a-z]|ts|time|timestamp|date|now|cache|uncache|version)$/, value: MOMENT },
  { name: /^(?:callback|jsonp|jsonpcallback|cb)$/, value: /\d{5,}/ },
  { name: /^(?:utm_\w+|fbclid|gclid|msclkid)$/, value: ANY },
];

function isBuster(parameter: string): boolean {
  const at = parameter.indexOf("=");
  if (at < 0) return MOMENT.test(parameter);
  const [name, value] = [parameter.slice(0, at), parameter.slice(at + 1)];
  return RULES.some((rule) => rule.name.test(name) && rule.value.test(value));
}

/** A key without such parameters. */
function plainKey(key: string): string {
  const at = key.indexOf("?");
  if (at < 0) return key;
  const kept = key
    .slice(at + 1)
    .split("&")
    .filter((parameter) => !isBuster(parameter));
  return kept.length === 0 ? key.slice(0, at) : `${key.slice(0, at)}?${kept.join("&")}`;
}

export interface LookAlikes {
  /** Where their keys lie: the path alone, and with every query. Others lie there too. */
  readonly ranges: readonly { readonly from: string; readonly to: string }[];
  readonly isAlike: (key: string) => boolean;
}

export function lookAlikes(url: string): LookAlikes {
  const key = archiveKey(url);
  const [path = key] = key.split("?", 1);
  const plain = plainKey(key);
  return {
    ranges: [
      { from: `${path}\0`, to: `${path}\x01` },
      { from: `${path}?`, to: `${path}@` },
    ],
    isAlike: (other) => other !== key && plainKey(other) === plain,
  };
}
