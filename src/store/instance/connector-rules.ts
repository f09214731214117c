/** What must hold in a connector, once its text is taken apart: names, values, and what goes with what. */
import { normalize } from "node:path";
import { VOLUME_COUNT_MAX } from "../content-key.ts";
import { SIGNATURE_ALGORITHMS } from "../signature.ts";
import { VOLUME_STATES } from "../volume.ts";
import { TREE_DEPTH_MAX, VOLUME_LAYOUTS } from "../volume-settings.ts";
import type { CodecSpec, Connector, VolumeLocation, VolumeSpec } from "./connector.ts";
import { type ConnectorText, mistake, type TextAttribute, type TextElement } from "./connector-text.ts";
import { PLACEMENT_NAMES } from "./placement.ts";

const VERSION = 1;
export const REPLICAS_MAX = 16;
export const WEIGHT_MAX = 1_000_000;
const NAME_LENGTH_MAX = 100;
const CODEC_NAME = /^[a-z0-9-]{1,16}$/;
const HOST = /^(?:[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,252}[A-Za-z0-9_])?\.?|[0-9A-Fa-f:.]{2,45})$/;

const INSTANCE_ATTRIBUTES = ["version", "name", "signature", "replicas", "placement"];
const TIMEOUT_ATTRIBUTES = ["connect-timeout", "answer-timeout", "idle-timeout"] as const;
/** In seconds. */
const TIMEOUT_MAX = 3600;
/** What only a volume behind a server has. */
const SERVER_ATTRIBUTES = ["token-file", "ca-file", ...TIMEOUT_ATTRIBUTES];
const LOCATION_ATTRIBUTES = ["path", "host", "port", "tls", "url", ...SERVER_ATTRIBUTES];
const VOLUME_ATTRIBUTES = ["name", "state", "weight", "layout", "tree-depth", ...LOCATION_ATTRIBUTES, "moved-to"];
const CODEC_ATTRIBUTES = ["name", "module"];

/** The attributes of one element, by name; says what is wrong with them, and where. */
class Fields {
  readonly source: ConnectorText;
  readonly element: TextElement;

  constructor(source: ConnectorText, element: TextElement, known: readonly string[]) {
    this.source = source;
    this.element = element;
    for (const { name, at } of element.attributes) {
      // The report's own connectors name a schema; it says nothing that is not said here.
      const isForeign = element.name === "instance" && /^(?:xmlns(?:$|:)|xsi:)/.test(name);
      if (!known.includes(name) && !isForeign) {
        throw mistake(source, at, `${element.name} has no attribute ${name}; there are ${known.join(", ")}`);
      }
    }
  }

  get(name: string): TextAttribute | undefined {
    return this.element.attributes.find((attribute) => attribute.name === name);
  }

  text(name: string): string | undefined {
    return this.get(name)?.value;
  }

  wrong(name: string, message: string) {
    return mistake(this.source, this.get(name)?.at ?? this.element.at, message);
  }

  require(name: string): string {
    const value = this.text(name);
    if (value === undefined) throw this.wrong(name, `${this.element.name} has no ${name}`);
    if (value === "") throw this.wrong(name, `${name} is empty`);
    return value;
  }

  choice<T extends string>(name: string, choices: readonly T[]): T | undefined {
    const value = this.text(name);
    if (value === undefined || (choices as readonly string[]).includes(value)) return value as T | undefined;
    throw this.wrong(name, `${name} is one of ${choices.join(", ")}, not ${quoted(value)}`);
  }

  count(name: string, min: number, max: number): number | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    const count = /^[0-9]{1,9}$/.test(value) ? Number(value) : Number.NaN;
    if (count >= min && count <= max) return count;
    throw this.wrong(name, `${name} is a whole number from ${min} to ${max}, not ${quoted(value)}`);
  }

  /** A name that people write and read, and that is no number, which would be that of a volume. */
  name(): string {
    const name = this.require("name");
    if (name.length > NAME_LENGTH_MAX || /[\p{Cc}\p{Cs}]|^\s|\s$/u.test(name) || /^[0-9]+$/.test(name)) {
      throw this.wrong("name", `not a name for a ${this.element.name}: ${quoted(name)}`);
    }
    return name;
  }

  /** A path or the like: not empty, and nothing that cannot be in one. */
  path(name: string): string | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    if (value === "" || /[\p{Cc}\p{Cs}]/u.test(value))
      throw this.wrong(name, `${name} is not a path: ${quoted(value)}`);
    return value;
  }
}

function quoted(value: string): string {
  return JSON.stringify(value.slice(0, 100));
}

export function readInstance(source: ConnectorText, element: TextElement): Connector {
  if (element.name !== "instance") throw mistake(source, element.at, `the connector begins with ${element.name}`);
  checkVersion(source, element);
  const fields = new Fields(source, element, INSTANCE_ATTRIBUTES);
  for (const { name, at, children } of element.children) {
    if (name !== "volume" && name !== "codec") throw mistake(source, at, `an instance has no element ${name}`);
    if (children[0] !== undefined) throw mistake(source, children[0].at, `a ${name} has no elements in it`);
  }
  const named = (name: string) => element.children.filter((child) => child.name === name);
  const [volumes, codecs] = [named("volume"), named("codec")];
  if (volumes.length === 0) throw mistake(source, element.at, "an instance has at least one volume");
  if (volumes.length > VOLUME_COUNT_MAX) {
    throw mistake(source, volumes[VOLUME_COUNT_MAX]!.at, `an instance has at most ${VOLUME_COUNT_MAX} volumes`);
  }
  const name = fields.name();
  const specs = readVolumes(source, volumes);
  const replicas = fields.count("replicas", 1, REPLICAS_MAX) ?? 1;
  const holding = specs.filter(({ movedTo }) => movedTo === undefined).length;
  if (replicas > holding) throw fields.wrong("replicas", `${replicas} replicas on ${holding} volumes`);
  return {
    name,
    signature: fields.choice("signature", SIGNATURE_ALGORITHMS) ?? "sha256",
    replicas,
    placement: fields.choice("placement", PLACEMENT_NAMES) ?? "mod",
    volumes: specs,
    codecs: readCodecs(source, codecs),
  };
}

/** First of all: a newer connector may have anything in it. */
function checkVersion(source: ConnectorText, element: TextElement): void {
  const version = element.attributes.find(({ name }) => name === "version");
  if (version === undefined || version.value === String(VERSION)) return;
  if (!/^[1-9][0-9]{0,8}$/.test(version.value)) {
    throw mistake(source, version.at, `version is a whole number, not ${quoted(version.value)}`);
  }
  throw mistake(
    source,
    version.at,
    `a connector of version ${version.value}, made for a newer Holotype`,
    "HT_FORMAT_TOO_NEW",
  );
}

function readVolumes(source: ConnectorText, elements: readonly TextElement[]): VolumeSpec[] {
  const names = new Set<string>();
  const locations = new Set<string>();
  const specs = elements.map((element) => {
    const fields = new Fields(source, element, VOLUME_ATTRIBUTES);
    const spec = readVolume(fields);
    if (names.has(spec.name)) throw fields.wrong("name", `two volumes have the name ${quoted(spec.name)}`);
    names.add(spec.name);
    if (spec.location !== undefined) {
      const { location } = spec;
      const place = location.kind === "folder" ? normalize(`${location.path}/`) : location.url;
      const attribute = location.kind === "folder" ? "path" : fields.get("url") === undefined ? "host" : "url";
      if (locations.has(place)) throw fields.wrong(attribute, `two volumes are at ${place}`);
      locations.add(place);
    }
    return spec;
  });
  for (const [i, spec] of specs.entries()) checkMove(new Fields(source, elements[i]!, VOLUME_ATTRIBUTES), spec, specs);
  return specs;
}

function readVolume(fields: Fields): VolumeSpec {
  const name = fields.name();
  const location = readLocation(fields);
  const movedTo = fields.text("moved-to");
  if (movedTo !== undefined && fields.text("state") === "writable") {
    throw fields.wrong("state", "a volume that has moved is not writable");
  }
  const state = fields.choice("state", VOLUME_STATES) ?? (movedTo === undefined ? "writable" : "read-only");
  const layout = fields.choice("layout", VOLUME_LAYOUTS);
  const treeDepth = fields.count("tree-depth", 1, TREE_DEPTH_MAX);
  if (layout !== undefined && location?.kind !== "folder") {
    throw fields.wrong("layout", "layout is for a volume with a path; a server knows its own");
  }
  if (layout === "pack" && treeDepth !== undefined) throw fields.wrong("tree-depth", "a pack has no tree-depth");
  return {
    name,
    state,
    weight: fields.count("weight", 1, WEIGHT_MAX) ?? 1,
    ...(location === undefined ? {} : { location }),
    ...(movedTo === undefined ? {} : { movedTo }),
    ...(layout === undefined ? {} : { layout }),
    ...(treeDepth === undefined ? {} : { treeDepth }),
  };
}

function readLocation(fields: Fields): VolumeLocation | undefined {
  const given = ["path", "host", "url"].filter((name) => fields.get(name) !== undefined);
  if (given.length > 1) throw fields.wrong(given[1]!, `${given.join(" and ")} exclude each other`);
  const only = (names: readonly string[], what: string) => {
    const other = names.find((name) => fields.get(name) !== undefined);
    if (other !== undefined) throw fields.wrong(other, `${other} is for a volume with ${what}`);
  };
  if (fields.get("host") === undefined) only(["port", "tls"], "a host");
  if (given[0] !== "host" && given[0] !== "url") only(SERVER_ATTRIBUTES, "a host or url");
  if (given[0] === "path") return { kind: "folder", path: fields.path("path")! };
  if (given[0] === undefined) {
    if (fields.get("moved-to") !== undefined) return undefined;
    throw fields.wrong("name", "a volume has a path, a host and port, or a url");
  }
  const url = given[0] === "url" ? readUrl(fields) : readHost(fields);
  const [tokenFile, caFile] = [fields.path("token-file"), fields.path("ca-file")];
  if (caFile !== undefined && !url.startsWith("https:")) throw fields.wrong("ca-file", "ca-file without TLS");
  const [connectTimeout, answerTimeout, idleTimeout] = TIMEOUT_ATTRIBUTES.map((name) =>
    fields.count(name, 1, TIMEOUT_MAX),
  );
  return {
    kind: "server",
    url,
    ...(tokenFile === undefined ? {} : { tokenFile }),
    ...(caFile === undefined ? {} : { caFile }),
    ...(connectTimeout === undefined ? {} : { connectTimeout }),
    ...(answerTimeout === undefined ? {} : { answerTimeout }),
    ...(idleTimeout === undefined ? {} : { idleTimeout }),
  };
}

function readHost(fields: Fields): string {
  const host = fields.require("host");
  if (!HOST.test(host)) throw fields.wrong("host", `not a host: ${quoted(host)}`);
  const port = fields.count("port", 1, 65_535);
  if (port === undefined) throw fields.wrong("host", "a host without a port");
  const scheme = fields.choice("tls", ["true", "false"]) === "true" ? "https" : "http";
  return (
    parseUrl(`${scheme}://${host.includes(":") ? `[${host}]` : host}:${port}/`)?.href ?? refuse(fields, "host", host)
  );
}

function readUrl(fields: Fields): string {
  const text = fields.require("url");
  const url = parseUrl(text);
  const isPlain = url !== undefined && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "";
  if (!isPlain || url.search !== "" || url.hash !== "") return refuse(fields, "url", text);
  return url.href;
}

function parseUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}

function refuse(fields: Fields, name: string, value: string): never {
  throw fields.wrong(name, `not a ${name} of a volume server: ${quoted(value)}`);
}

function checkMove(fields: Fields, spec: VolumeSpec, all: readonly VolumeSpec[]): void {
  const passed = new Set([spec.name]);
  for (let from: VolumeSpec = spec; from.movedTo !== undefined; ) {
    const { movedTo } = from;
    const to = all.find(({ name }) => name === movedTo);
    if (to === undefined) throw fields.wrong("moved-to", `moved to ${quoted(movedTo)}, but no volume has that name`);
    if (passed.has(to.name)) throw fields.wrong("moved-to", `${quoted(spec.name)} has moved in a circle`);
    passed.add(to.name);
    from = to;
  }
}

function readCodecs(source: ConnectorText, elements: readonly TextElement[]): CodecSpec[] {
  const names = new Set<string>();
  return elements.map((element) => {
    const fields = new Fields(source, element, CODEC_ATTRIBUTES);
    const name = fields.require("name");
    if (!CODEC_NAME.test(name)) throw fields.wrong("name", `not a name for a codec: ${quoted(name)}`);
    if (names.has(name)) throw fields.wrong("name", `two codecs have the name ${name}`);
    names.add(name);
    fields.require("module");
    return { name, module: fields.path("module")! };
  });
}
