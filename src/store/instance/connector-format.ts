/** Connectors as text: what `parseConnector` reads back as the same value. */
import type { Connector, VolumeLocation, VolumeSpec } from "./connector.ts";

type Attributes = Readonly<Record<string, string | number | undefined>>;

export function formatConnectorXml(connector: Connector): string {
  const lines = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<instance${formatAttributes(instanceAttributes(connector))}>`,
    ...connector.volumes.map((volume) => `  <volume${formatAttributes(volumeAttributes(volume))}/>`),
    ...connector.codecs.map(({ name, module }) => `  <codec${formatAttributes({ name, module })}/>`),
    "</instance>",
  ];
  return `${lines.join("\n")}\n`;
}

export function formatConnectorJson(connector: Connector): string {
  const value = {
    version: 1,
    ...instanceAttributes(connector),
    volumes: connector.volumes.map(volumeAttributes),
    ...(connector.codecs.length === 0 ? {} : { codecs: connector.codecs }),
  };
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

function instanceAttributes({ name, signature, replicas, placement }: Connector): Attributes {
  return { name, signature, replicas, placement };
}

function volumeAttributes({ name, state, weight, location, movedTo, layout, treeDepth }: VolumeSpec): Attributes {
  return {
    name,
    state,
    layout,
    "tree-depth": treeDepth,
    ...(location === undefined ? {} : locationAttributes(location)),
    weight: weight === 1 ? undefined : weight,
    "moved-to": movedTo,
  };
}

/** A server at the root of a host and port is written so, as the report has it. */
function locationAttributes(location: VolumeLocation): Attributes {
  if (location.kind === "folder") return { path: location.path };
  const url = new URL(location.url);
  const isRoot = url.pathname === "/" && url.port !== "";
  return {
    ...(isRoot
      ? {
          host: url.hostname.replace(/^\[(.*)\]$/, "$1"),
          port: Number(url.port),
          tls: url.protocol === "https:" ? "true" : undefined,
        }
      : { url: location.url }),
    "token-file": location.tokenFile,
    "ca-file": location.caFile,
    "connect-timeout": location.connectTimeout,
    "answer-timeout": location.answerTimeout,
    "idle-timeout": location.idleTimeout,
  };
}

const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

function formatAttributes(attributes: Attributes): string {
  return Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ` ${name}="${String(value).replace(/[&<>"]/g, (character) => ESCAPES[character]!)}"`)
    .join("");
}
