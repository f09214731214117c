import { expect, test } from "vitest";
import { bufferSource, WarcReader, WarcWriter } from "./index.ts";

function archive(text: string): Buffer {
  const parts: Buffer[] = [];
  const writer = new WarcWriter({ write: (bytes) => void parts.push(Buffer.from(bytes)) });
  writer.write({ fields: [["WARC-Type", "resource"]], block: Buffer.from(text) });
  return Buffer.concat(parts);
}

test("closing twice does not give one buffer to two readers", () => {
  const first = new WarcReader(bufferSource(archive("aaaaa")));
  first.next();
  first.close();
  const second = new WarcReader(bufferSource(archive("bbbbb")));
  const record = second.next()!;
  first.close();
  new WarcReader(bufferSource(archive("ccccc"))).next();
  expect(record.block?.toString()).toBe("bbbbb");
});

test("a closed reader has no more records", () => {
  const reader = new WarcReader(bufferSource(archive("aaaaa")));
  const record = reader.next()!;
  reader.close();
  expect(reader.next()).toBeUndefined();
  expect(record.block).toBeUndefined();
});
