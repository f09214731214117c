import { fileURLToPath } from "node:url";
import { Archive, archiveExists } from "../archive/index.ts";
import { ArchiveError } from "../base/index.ts";
import { nodeDisk, writeStandardOutput } from "../disk/index.ts";
import { exampleValues } from "../serve/index.ts";
import { add } from "./add.ts";
import { ARCHIVE_OPTION, archiveFolder } from "./archive-option.ts";
import { type Command, parseArguments, parseCount } from "./command.ts";
import { stopSignal } from "./interruption.ts";
import { Serving } from "./serving.ts";
import { say } from "./talk.ts";

/** Ports that are tried one after the other; after them, any that is free. */
const PORTS_TRIED = 20;

export const up: Command = {
  name: "up",
  purpose: "Make an archive if there is none, add files, and serve it for your browser.",
  usage: "[FILE…] [--archive DIR] [--port 8080]",
  details: `The quickest way to look at archive files. Without files, a new archive gets the bundled sample crawls; one that has
captures is served as it is. Prints the address when it is ready, and serves this machine alone until Ctrl-C or
SIGTERM. If the port is taken, the next free one is used. With --check, or where CI is set in the environment, it asks
itself for its pages instead of waiting, and ends.`,
  options: {
    ...ARCHIVE_OPTION,
    port: { type: "string", value: "N", help: "port to listen on, or the next one that is free", default: "8080" },
    check: { type: "boolean", help: "end after a self-check, with 0 or an error" },
  },
  exits: "1 the self-check failed · 20 a file was not found · 21 another process is writing · 24 no space",
  examples: ["holotype up --archive /tmp/cabinet --check"],
  async run(args) {
    const folder = archiveFolder(args);
    const port = parseCount("port", args.text("port") ?? "", 0, 65_535);
    const [json, isCheck] = [args.flag("json"), args.flag("check") || (process.env["CI"] ?? "") !== ""];
    const files = await filesToAdd(args.positionals, folder);
    if (files.length > 0) {
      if (!json) say(`adding ${files.join(" ")} to ${folder}`);
      const exit = await add.run(parseArguments(add, [...files, "--archive", folder, ...(json ? ["--json"] : [])]));
      if (exit !== 0 && exit !== 3) return exit;
    }
    const stop = stopSignal();
    await using serving = await openOnFreePort(folder, port);
    const url = serving.url.replace("//127.0.0.1", "//localhost");
    const tries = await thingsToTry(serving, url);
    if (isCheck) await checkAnswers(tries.map(([address]) => address.replace("//localhost", "//127.0.0.1")));
    if (json)
      writeStandardOutput(`${JSON.stringify({ url, archive: folder, ...(isCheck ? { checked: true } : {}) })}\n`);
    else writeStandardOutput(formatReady(url, tries, isCheck));
    if (!isCheck) await stop;
    return 0;
  },
};

/** Those that were given; for an archive without captures, the bundled samples. */
async function filesToAdd(given: readonly string[], folder: string): Promise<readonly string[]> {
  if (given.length > 0) return given;
  if (archiveExists(nodeDisk, folder)) {
    await using archive = await Archive.open(nodeDisk, folder);
    if ((await archive.counts()).captures > 0) return [];
  }
  return [fileURLToPath(new URL("../../samples", import.meta.url))];
}

async function openOnFreePort(folder: string, first: number): Promise<Serving> {
  for (let port = first; ; port++) {
    const isLast = first === 0 || port === first + PORTS_TRIED || port > 65_535;
    try {
      return await Serving.open({ archives: [folder], http: { port: isLast ? 0 : port }, isLogged: false });
    } catch (error) {
      if (isLast || !(error instanceof ArchiveError) || error.code !== "HT_LOCKED") throw error;
    }
  }
}

/** Addresses that show something, each with a few words. */
async function thingsToTry({ collections }: Serving, url: string): Promise<[address: string, what: string][]> {
  const [collection] = collections;
  const { url: page, time } = await exampleValues(collection!);
  const base = `${url}/${collection!.name}`;
  return [
    [`${url}/`, "search, totals, sites"],
    [`${base}/*/${page}`, "one page over time"],
    [`${base}/${time}/${page}`, `the same in ${time}`],
    [`${url}/api/`, "every call, with a curl line"],
  ];
}

function formatReady(url: string, tries: readonly (readonly [string, string])[], isCheck: boolean): string {
  const width = Math.max(...tries.map(([address]) => address.length));
  const lines = tries.map(([address, what]) => `  ${address.padEnd(width)}  ${what}\n`);
  const end = isCheck ? "All of these answer.\n" : "Ctrl-C stops it.\n";
  return `\nHolotype is ready: ${url}/\n\n${lines.join("")}\n${end}`;
}

/** HT_UNEXPECTED where one of the addresses does not answer as it should. */
async function checkAnswers(addresses: readonly string[]): Promise<void> {
  for (const address of addresses) {
    const answer = await fetch(address, { headers: { accept: "text/html" } });
    await answer.arrayBuffer();
    if (!answer.ok) throw new ArchiveError("HT_UNEXPECTED", `self-check: ${address} answers ${answer.status}`);
  }
}
