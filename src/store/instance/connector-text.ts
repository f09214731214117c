/**
 * A connector as text, before it is known to be right: elements with attributes, each with its place, whether they were
 * written as XML or as JSON. Every mistake is told with file, line and column.
 */
import { ArchiveError, type ErrorCode } from "../../base/index.ts";

export interface ConnectorText {
  /** The name of the file, for messages. */
  readonly file: string;
  readonly text: string;
}

export interface TextAttribute {
  readonly name: string;
  readonly value: string;
  /** Where it begins, in characters of the text. */
  readonly at: number;
}

export interface TextElement {
  readonly name: string;
  readonly at: number;
  readonly attributes: readonly TextAttribute[];
  readonly children: readonly TextElement[];
}

/** A connector of the most volumes that there can be stays far below that. */
export const CONNECTOR_SIZE_MAX = 4 << 20;

/** Throws HT_TOO_LARGE, and HT_USAGE for what is no UTF-8. */
export function decodeConnector(bytes: Uint8Array, file: string): ConnectorText {
  if (bytes.length > CONNECTOR_SIZE_MAX) {
    throw new ArchiveError("HT_TOO_LARGE", `${file}: a connector of more than ${CONNECTOR_SIZE_MAX} bytes`, { file });
  }
  try {
    return { file, text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
  } catch (cause) {
    throw new ArchiveError("HT_USAGE", `${file}: not UTF-8, so no connector`, { file }, cause);
  }
}

/** The error for what is wrong at a character of the text. */
export function mistake(source: ConnectorText, at: number, message: string, code: ErrorCode = "HT_USAGE") {
  const before = source.text.slice(0, at);
  const lines = before.split(/\r\n|[\r\n]/);
  const place = `${source.file}:${lines.length}:${lines.at(-1)!.length + 1}`;
  return new ArchiveError(code, `${place}: ${message}`, { file: source.file, offset: Buffer.byteLength(before) });
}
