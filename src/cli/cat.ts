import { ArchiveError, isDamage, type Warning } from "../base/index.ts";
import { nodeDisk, writeStandardOutput } from "../disk/index.ts";
import { findInputs, openInput } from "../pipeline/index.ts";
import { decodeContent, loadZstd, parseContentCodings, payloadOf, WarcReader, type WarcRecord } from "../warc/index.ts";
import { type Command, parseCount } from "./command.ts";
import { WarningTeller } from "./talk.ts";

export const cat: Command = {
  name: "cat",
  purpose: "Print one record, or its payload.",
  usage: "FILE --offset N",
  details: `Without --payload the record comes out as it is inside its compression: header, blank line, block. Offsets
are those that ls prints.`,
  options: {
    offset: { type: "string", value: "N", help: "where the record begins in the file", default: "0" },
    inner: { type: "string", value: "N", help: "where it begins inside its member, if it shares one", default: "0" },
    payload: { type: "boolean", short: "p", help: "only the payload, with chunked transfer coding undone" },
    json: { type: "boolean", help: "print errors as JSON" },
    decode: { type: "boolean", short: "d", help: "only the payload, with gzip, deflate, br or zstd undone too" },
  },
  exits: "4 the record is damaged · 20 there is no record at that offset",
  examples: ["holotype cat samples/cabinet-2009.warc.gz --offset 0"],
  async run(args) {
    const [name, ...more] = args.positionals;
    if (name === undefined || more.length > 0) throw new ArchiveError("HT_USAGE", "holotype cat takes one file");
    const inputs = findInputs(nodeDisk, [name], ({ error }) => {
      throw error;
    });
    if (inputs.length !== 1) {
      throw new ArchiveError("HT_USAGE", `${name} holds several archives; name one, as in ${inputs[0]?.name ?? "…"}`);
    }
    const offset = parseCount("offset", args.text("offset")!, 0, Number.MAX_SAFE_INTEGER);
    const inner = parseCount("inner", args.text("inner")!, 0, Number.MAX_SAFE_INTEGER);
    const source = openInput(nodeDisk, inputs[0]!);
    try {
      await loadZstd();
      const damage: Warning[] = [];
      const onWarning = (warning: Warning) => {
        if (warning.offset === offset && isDamage(warning)) damage.push(warning);
      };
      const reader = new WarcReader(source, { start: offset, onWarning });
      const record = findRecord(reader, offset, inner);
      if (args.flag("decode") || args.flag("payload")) await printPayload(record, args.flag("decode"));
      else printRecord(record);
      // Only then is it known whether the record holds its checksum.
      reader.next();
      const teller = new WarningTeller(args.flag("json"));
      for (const warning of damage) teller.tell(warning);
      return damage.length === 0 ? 0 : 4;
    } finally {
      source.close?.();
    }
  },
};

function findRecord(reader: WarcReader, offset: number, inner: number): WarcRecord {
  try {
    for (let record = reader.next(); record !== undefined && record.offset === offset; record = reader.next()) {
      if ((record.inner ?? 0) === inner) return record;
    }
  } catch (error) {
    // Seen from the middle of a record, an archive looks like no archive.
    if (offset === 0 || !(error instanceof ArchiveError) || error.code !== "HT_FORMAT_UNKNOWN") throw error;
  }
  const place = { file: reader.name, offset };
  const where = inner === 0 ? `offset ${offset}` : `${inner} bytes inside the member at offset ${offset}`;
  throw new ArchiveError("HT_NOT_FOUND", `${reader.name}: no record begins at ${where}`, place);
}

function printRecord(record: WarcRecord): void {
  writeStandardOutput(Buffer.from(record.headers.text, "latin1"));
  for (const chunk of record.chunks()) writeStandardOutput(chunk);
}

async function printPayload(record: WarcRecord, decode: boolean): Promise<void> {
  const { http, chunks } = payloadOf(record);
  const codings = decode ? parseContentCodings(http?.headers.get("content-encoding"), record) : [];
  for await (const chunk of decodeContent(chunks, codings, record)) writeStandardOutput(chunk);
}
