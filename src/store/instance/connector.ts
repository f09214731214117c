/**
 * The connector: the file that says which volumes an instance has. As XML, in the shape of
 * `<instance name="…"><volume name="…" state="…" tree-depth="…" host="…" port="…"/></instance>`, or as its JSON twin.
 * Both give the same value. Obeys docs/format/connector.md.
 */
import type { SignatureAlgorithm } from "../signature.ts";
import type { VolumeState } from "../volume.ts";
import type { VolumeLayout } from "../volume-settings.ts";
import { parseJson } from "./connector-json.ts";
import { readInstance } from "./connector-rules.ts";
import { decodeConnector, mistake } from "./connector-text.ts";
import { parseXml } from "./connector-xml.ts";
import type { PlacementName } from "./placement.ts";

/** The version of connectors that we read and write. */
export const CONNECTOR_VERSION = 1;

export interface Connector {
  readonly name: string;
  readonly signature: SignatureAlgorithm;
  /** How many volumes a content is stored on. */
  readonly replicas: number;
  readonly placement: PlacementName;
  /** A volume's number is its place in this list, from 0. */
  readonly volumes: readonly VolumeSpec[];
  readonly codecs: readonly CodecSpec[];
}

export interface VolumeSpec {
  readonly name: string;
  readonly state: VolumeState;
  readonly weight: number;
  /** Absent only where the volume has moved and is not there any more. */
  readonly location?: VolumeLocation;
  /** The name of the volume that its blocks moved to. */
  readonly movedTo?: string;
  /** For a folder that is not there yet; a server knows its own. */
  readonly layout?: VolumeLayout;
  readonly treeDepth?: number;
}

export type VolumeLocation = FolderLocation | ServerLocation;

export interface FolderLocation {
  readonly kind: "folder";
  /** As it stands in the connector; relative to the folder of the connector. */
  readonly path: string;
}

export interface ServerLocation {
  readonly kind: "server";
  /** `http://host:port/`, or `https:` for TLS. */
  readonly url: string;
  /** Files beside the connector: the token that the server asks for, and the certificates that it may be trusted by. */
  readonly tokenFile?: string;
  readonly caFile?: string;
  /** Deadlines in seconds; those that are absent depend on whether there are other volumes. */
  readonly connectTimeout?: number;
  readonly answerTimeout?: number;
  readonly idleTimeout?: number;
}

/** A codec of the application: a module that exports it as `codec`. */
export interface CodecSpec {
  readonly name: string;
  readonly module: string;
}

/**
 * Throws HT_USAGE with file, line and column for every mistake, HT_FORMAT_TOO_NEW for a connector of a newer Holotype, and
 * HT_TOO_LARGE. `file` is for messages only.
 */
export function parseConnector(bytes: Uint8Array, file: string): Connector {
  const source = decodeConnector(bytes, file);
  const first = source.text.search(/[^ \t\r\n]/);
  if (first < 0) throw mistake(source, 0, "the connector is empty");
  const element = source.text[first] === "{" ? parseJson(source) : parseXml(source);
  return readInstance(source, element);
}
