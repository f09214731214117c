/** The same work with npm `warcio`: read, inflate, split off the HTTP header, hash the payload, print a line. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { WARCParser } from "warcio";

const [algorithm, ...files] = process.argv.slice(2);
for (const file of files) {
  const parser = new WARCParser(createReadStream(file));
  for await (const record of parser) {
    if (record.warcType !== "response") continue;
    const hash = createHash(algorithm!);
    for await (const chunk of record) hash.update(chunk);
    process.stdout.write(
      `${file}\t${parser.offset}\t${record.warcTargetURI}\t${record.warcDate}\t${hash.digest("hex")}\n`,
    );
  }
}
