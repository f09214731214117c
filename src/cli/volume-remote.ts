/** Volumes that a server has open: commands that need not stop it are told its URL. */
import { nodeDisk } from "../disk/index.ts";
import { RemoteVolume } from "../store/index.ts";
import type { Arguments, OptionSpecs } from "./command.ts";

export const SERVER_OPTIONS: OptionSpecs = {
  "token-file": { type: "string", value: "FILE", help: "for a server that asks for a token" },
  "tls-ca": { type: "string", value: "FILE", help: "certificate, in PEM, by which the server is known" },
};

const TEXT_SIZE_MAX = 1 << 20;

export function isServerUrl(target: string): boolean {
  return /^https?:\/\//i.test(target);
}

export function openServer(url: string, args: Arguments): RemoteVolume {
  return new RemoteVolume({ url, token: readToken(args), ca: readText(args.text("tls-ca")) });
}

/** Blanks and line ends around it do not count. */
export function readToken(args: Arguments): string | undefined {
  return readText(args.text("token-file"))?.trim();
}

export function readText(path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  using file = nodeDisk.open(path, "read");
  const bytes = Buffer.alloc(Math.min(file.size(), TEXT_SIZE_MAX));
  return bytes.toString("utf8", 0, file.read(bytes, 0));
}
