/** Codecs that an application brings along, as modules that export one as `codec`. */
import { isAbsolute, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { ArchiveError } from "../base/index.ts";
import type { Codec } from "./codec.ts";

/**
 * Loads a codec and gives it a name. The module is a path, from `folder` where it is none from the root, or the name of a
 * package. Throws HT_CODEC where there is no such module or no codec in it.
 */
export async function loadCodec(name: string, module: string, folder = "."): Promise<Codec> {
  const isPath = isAbsolute(module) || /^\.{1,2}\//.test(module);
  const fail = (reason: string, cause?: unknown) =>
    new ArchiveError("HT_CODEC", `the codec ${name} cannot be loaded from ${module}: ${reason}`, {}, cause);
  let exported: { readonly codec?: Partial<Codec> };
  try {
    exported = (await import(isPath ? pathToFileURL(resolve(folder, module)).href : module)) as typeof exported;
  } catch (cause) {
    throw fail(cause instanceof Error ? cause.message.split("\n")[0]! : String(cause), cause);
  }
  const { codec } = exported;
  if (typeof codec?.encode !== "function" || typeof codec.decode !== "function") {
    throw fail("it does not export a codec with encode and decode");
  }
  const { encode, decode, encodeStream, decodeStream } = codec;
  return {
    name,
    encode: (content) => encode.call(codec, content),
    decode: (stored, sizeMax) => decode.call(codec, stored, sizeMax),
    ...(encodeStream === undefined ? {} : { encodeStream: (content) => encodeStream.call(codec, content) }),
    ...(decodeStream === undefined ? {} : { decodeStream: (stored) => decodeStream.call(codec, stored) }),
  };
}
