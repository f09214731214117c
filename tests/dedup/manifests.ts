/** Manifests of files in memory. */
import type { DigestAlgorithm } from "../../src/base/index.ts";
import { findInputs, runTask } from "../../src/pipeline/index.ts";
import { type ArchiveFile, putFile } from "../../src/testing/dedup-trial.ts";
import { ForgetfulDisk } from "../../src/testing/forgetful-disk.ts";

export async function createManifestText(
  files: readonly ArchiveFile[],
  digest: DigestAlgorithm = "sha256",
): Promise<string> {
  const disk = new ForgetfulDisk();
  for (const { name, bytes } of files) putFile(disk, `/held/${name}`, bytes);
  let text = "";
  const inputs = findInputs(disk, ["/held"], ({ error }) => {
    throw error;
  });
  const onText = (piece: string | Uint8Array) => {
    text += typeof piece === "string" ? piece : Buffer.from(piece).toString();
  };
  await runTask(disk, inputs, { kind: "manifest", options: { digest, revisits: true } }, { threads: 1, onText });
  return text;
}
