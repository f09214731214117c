/**
 * The one error class of Holotype, and the one table of its codes. A code is stable: scripts branch on it.
 * `docs/errors.md` is held to this table by a test, in both directions.
 */

/** What a code leads to: the exit status of the command line, the status of an HTTP answer, and what it means. */
export interface ErrorMeaning {
  readonly exit: number;
  readonly http: number;
  /** `error` stops the work; `damage` is lost or doubtful data that reading goes on behind; `note` is a tolerated oddity. */
  readonly kind: "error" | "damage" | "note";
  readonly meaning: string;
}

const error = (exit: number, http: number, meaning: string): ErrorMeaning => ({ exit, http, kind: "error", meaning });
const damage = (meaning: string): ErrorMeaning => ({ exit: 23, http: 500, kind: "damage", meaning });
const note = (meaning: string): ErrorMeaning => ({ exit: 23, http: 500, kind: "note", meaning });

export const ERROR_TABLE = {
  HT_USAGE: error(2, 400, "The command line or the arguments of a call cannot be understood."),
  HT_NOT_FOUND: error(20, 404, "A file, folder, record or other named thing is not there."),
  HT_LOCKED: error(21, 423, "Another process holds the lock."),
  HT_FORMAT_TOO_NEW: error(22, 501, "The file was written by a newer Holotype."),
  HT_FORMAT_UNKNOWN: error(23, 415, "The bytes are those of no archive format that Holotype reads."),
  HT_UNSUPPORTED: error(23, 501, "The format is known, but this part of it cannot be read or written here."),
  HT_CORRUPT: error(23, 500, "Bytes that Holotype itself wrote do not hold their checksum or invariant."),
  HT_VERIFY: error(23, 500, "An output did not prove equal to its input, and was thrown away."),
  HT_CHANGED: error(23, 409, "An input is not as it was when the work began, so it was left alone."),
  HT_NO_SPACE: error(24, 507, "The disk is full, or a quota is used up."),
  HT_PEER_UNAVAILABLE: error(25, 502, "A server that holds the data does not answer."),
  HT_SIGNATURE: error(23, 422, "A signature or a size is not that of the bytes, which were not taken."),
  HT_CODEC: error(23, 415, "No codec of this name is known here, so the bytes cannot be compressed or compared."),
  HT_READ_ONLY: error(2, 403, "The volume takes no new contents."),
  HT_MOVING: error(21, 409, "The block is on its way to another volume; the migration has to be finished first."),
  HT_TOO_LARGE: error(2, 413, "Something is larger than it may be here."),
  HT_CUT_OFF: error(23, 400, "A stream ended before all that it promised had come."),
  HT_FORBIDDEN: error(2, 401, "The server asks for a token, and got none or another."),
  HT_BLOCKED: error(2, 451, "Access rules keep it from being shown."),
  HT_BUSY: error(25, 503, "The server has as much to do as it may, or is going down; try again later."),
  HT_INTERRUPTED: error(130, 503, "The work was interrupted; what was finished stays."),
  HT_EXISTS: error(2, 409, "The output is there already and was not asked to be replaced."),
  HT_IO: error(1, 500, "The operating system refused to read or write."),
  HT_UNEXPECTED: error(1, 500, "A server met something that it did not foresee, a bug of ours; its log has it."),

  HT_GZIP_HEADER: damage("A gzip member's header is not valid."),
  HT_GZIP_DATA: damage("A gzip member cannot be inflated past this point."),
  HT_GZIP_CHECKSUM: damage("A gzip member inflated, but its CRC-32 or size is not the one in its trailer."),
  HT_GZIP_TRUNCATED: damage("The input ended inside a gzip member."),
  HT_ZSTD_DATA: damage("A zstd frame cannot be decoded."),
  HT_ZSTD_CHECKSUM: damage("A zstd frame decoded, but its checksum is not the one it carries."),
  HT_ZSTD_TRUNCATED: damage("The input ended inside a zstd frame."),
  HT_ZSTD_DICTIONARY: damage("The zstd dictionary is damaged, or a frame asks for one that is not there."),
  HT_ZIP_DATA: damage("A ZIP file (WACZ) is damaged: its directory or an entry cannot be read."),
  HT_ZIP_CHECKSUM: damage("An entry of a ZIP file (WACZ) does not match the CRC-32 or the size in its directory."),
  HT_WACZ_MISSING: damage("A WACZ lacks a file that its datapackage.json lists, or the list cannot be read."),
  HT_GARBAGE: damage("Bytes that belong to no record were skipped."),
  HT_RECORD_HEADER: damage("A record's header is malformed."),
  HT_RECORD_HEADER_SIZE: damage("A record's header is larger than any real one, or has no end."),
  HT_RECORD_LENGTH: damage("A record's length is missing, not a number, or not where the next record begins."),
  HT_RECORD_TRUNCATED: damage("The input ended inside a record."),
  HT_FIELD_MISSING: damage("A record lacks a header field that its type requires."),
  HT_FIELD_INVALID: damage("A header field's value is not of the form that the standard gives it."),
  HT_DIGEST_MISMATCH: damage("A digest in a header is not that of the bytes."),
  HT_HTTP_HEADER: damage("The HTTP message in a record is malformed."),
  HT_HTTP_CHUNK: damage("A chunked body breaks off or has an invalid chunk; what could be decoded was."),
  HT_REVISIT_CHAIN: damage("A revisit refers to another revisit instead of an original."),
  HT_REVISIT_SELF: damage("A revisit refers to itself."),
  HT_REVISIT_MISMATCH: damage("A revisit's original is not what it claims: in its payload, its length or its id."),
  HT_REVISIT_INCOMPLETE: damage("A revisit of ours lacks what leads to its original, or has it in a strange form."),
  HT_REVISIT_IRREVERSIBLE: damage("A revisit of ours cannot be turned back into the record whose place it took."),
  HT_LOST: damage("Something that was kept is gone: a record of the originals, or the file that held it."),
  HT_ADDED: damage("A record is there that the originals do not have."),
  HT_ORDER: damage("A record does not stand where it stood among the records of the original file."),

  HT_DIGEST_UNKNOWN: note("A digest in a header has an algorithm or a form that is not known, so it was not checked."),
  HT_DIGEST_EMPTY: note(
    "A revisit has the digest of an empty block in its header, as wget writes it, but has a block.",
  ),
  HT_DIGEST_SEGMENTED: note("The payload of a record lies in several records; its digest was not verified."),
  HT_HTTP_NOT_CHUNKED: note("The HTTP header says chunked, but the stored body is not; it was taken as it is."),
  HT_HTTP_UNTERMINATED: note("The HTTP header in a record is not followed by a blank line; there is no body."),
  HT_RECORD_SEPARATOR: note("A record is not followed by exactly two line ends."),
  HT_LINE_ENDING: note("Header lines end in something other than CR LF."),
  HT_PADDING: note("Zero bytes or empty members stand between or behind the records."),
  HT_MEMBER_SHARED: note("Several records share one compressed member or frame, so none can be reached directly."),
  HT_REVISIT_ORPHAN: note("A revisit's original is not among the files that were looked at."),
  HT_REVISIT_AMBIGUOUS: note("A revisit refers to a URI and second at which different payloads were captured."),
  HT_HTTP_LENGTH: note("An HTTP header tells another length than its body has."),
  HT_WACZ_HASH: note("The datapackage.json of a WACZ tells another hash or size of a file; some writers do."),
  HT_RECOMPRESSED: note("The records of a file are those of the original, but its compressed bytes are not."),
} as const satisfies Record<string, ErrorMeaning>;

export type ErrorCode = keyof typeof ERROR_TABLE;

/** Where something was found: a file (or the name of a stream) and the byte offset in it. */
export interface Place {
  readonly file?: string | undefined;
  readonly offset?: number | undefined;
}

export function formatPlace(place: Place): string {
  if (place.file === undefined) return place.offset === undefined ? "" : `offset ${place.offset}`;
  return place.offset === undefined ? place.file : `${place.file}:${place.offset}`;
}

/** Every failure that is not a bug. `message` is for people, `code` for programs. */
export class ArchiveError extends Error {
  override readonly name = "ArchiveError";
  readonly code: ErrorCode;
  readonly place: Place;

  constructor(code: ErrorCode, message: string, place: Place = {}, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    // A record may stand for its place, and could not be sent from thread to thread.
    const { file, offset } = place;
    this.place = { file, offset };
  }

  get exit(): number {
    return ERROR_TABLE[this.code].exit;
  }
}

/** Damage or oddity that reading goes on behind: a value, not a throw. */
export interface Warning {
  readonly code: ErrorCode;
  readonly message: string;
  readonly file: string;
  readonly offset: number;
}

/** Whether it is more than a note: something is missing, or may be wrong. */
export function isDamage(warning: Warning): boolean {
  return ERROR_TABLE[warning.code].kind !== "note";
}

const SYSTEM_CODES: Readonly<Record<string, ErrorCode>> = {
  ENOENT: "HT_NOT_FOUND",
  ENOTDIR: "HT_NOT_FOUND",
  EEXIST: "HT_EXISTS",
  ENOSPC: "HT_NO_SPACE",
  EDQUOT: "HT_NO_SPACE",
};

/** Turns what the operating system threw into an `ArchiveError`; anything else is returned as it is. */
export function fromSystemError(cause: unknown, place: Place): unknown {
  if (cause instanceof ArchiveError || !(cause instanceof Error)) return cause;
  const code = (cause as NodeJS.ErrnoException).code;
  if (typeof code !== "string" || !/^E[A-Z0-9]+$/.test(code)) return cause;
  return new ArchiveError(SYSTEM_CODES[code] ?? "HT_IO", `${formatPlace(place)}: ${cause.message}`, place, cause);
}
