/** Opening an instance: from its connector, or from a bare folder, which is an instance of one volume. */
import { basename, dirname, resolve } from "node:path";
import { ArchiveError } from "../../base/index.ts";
import { type Access, commonAccess, type Disk } from "../../disk/index.ts";
import type { Codecs } from "../codec.ts";
import { loadCodec } from "../codec-module.ts";
import { openVolume } from "../open-volume.ts";
import { AMONG_OTHERS, type Deadlines, PATIENT } from "../remote/deadlines.ts";
import { RemoteVolume } from "../remote/remote-volume.ts";
import type { SignatureAlgorithm } from "../signature.ts";
import type { Volume } from "../volume.ts";
import { volumeAccess } from "../volume-access.ts";
import { createVolume, isVolume, readVolumeSettings } from "../volume-settings.ts";
import { type Connector, parseConnector, type ServerLocation, type VolumeSpec } from "./connector.ts";
import { CONNECTOR_SIZE_MAX } from "./connector-text.ts";
import { Instance, type InstanceOptions } from "./instance.ts";
import type { MemberSpec } from "./member.ts";
import { PLACEMENTS } from "./placement.ts";

export interface OpenInstanceOptions extends InstanceOptions {
  /** Makes folders that are not there into volumes: for who is going to store something. */
  readonly create?: boolean | undefined;
  /** The caller only reads; see `OpenVolumeOptions`. */
  readonly reading?: boolean | undefined;
  /** For a folder that is made: default `sha256`. A connector has its own. */
  readonly signature?: SignatureAlgorithm | undefined;
}

const TOKEN_SIZE_MAX = 4096;
const CERTIFICATES_SIZE_MAX = 1 << 20;

/**
 * Opens the instance that a connector or a folder is. Nothing is opened or asked before it is needed. Throws HT_NOT_FOUND
 * where there is neither, HT_USAGE for mistakes in the connector, HT_CODEC for a codec that cannot be loaded.
 */
export async function openInstance(disk: Disk, path: string, options: OpenInstanceOptions): Promise<Instance> {
  const kind = disk.stat(path)?.kind;
  if (kind === "file") return await openConnector(disk, path, options);
  if (kind === undefined && options.create !== true) {
    throw new ArchiveError("HT_NOT_FOUND", `${path}: no such connector or folder`, { file: path });
  }
  return openFolder(disk, path, options);
}

function openFolder(disk: Disk, folder: string, options: OpenInstanceOptions): Instance {
  if (!isVolume(disk, folder) && options.create === true) {
    createVolume(disk, folder, { signature: options.signature ?? "sha256" }, options.random);
  }
  const { signature } = readVolumeSettings(disk, folder);
  const name = basename(resolve(folder));
  const member: MemberSpec = {
    name,
    state: "writable",
    weight: 1,
    open: () => openVolume(disk, folder, quiet(options)),
  };
  return new Instance({ signature, replicas: 1, members: [member] }, options);
}

/**
 * Who may read a content of the instance at `path` when it is written to a file: nobody who could not read all files of
 * volumes on this machine that it may come from. Absent where nothing is known, as of volumes behind servers.
 */
export function contentAccess(disk: Disk, path: string, signature: string): Access | undefined {
  if (disk.stat(path)?.kind !== "file") return volumeAccess(disk, path, signature);
  const folders = readConnector(disk, path).volumes.flatMap(({ location }) =>
    location?.kind === "folder" ? resolve(dirname(resolve(path)), location.path) : [],
  );
  return commonAccess(folders.flatMap((folder) => volumeAccess(disk, folder, signature) ?? []));
}

export function readConnector(disk: Disk, path: string): Connector {
  return parseConnector(readAll(disk, path, CONNECTOR_SIZE_MAX + 1), path);
}

async function openConnector(disk: Disk, path: string, options: OpenInstanceOptions): Promise<Instance> {
  const connector = readConnector(disk, path);
  const folder = dirname(resolve(path));
  await loadCodecs(connector, folder, options.codecs);
  const { signature, replicas, volumes } = connector;
  const members = volumes.map((spec): MemberSpec => {
    const { name, state, weight, movedTo, location } = spec;
    const target = movedTo === undefined ? undefined : volumes.findIndex((other) => other.name === movedTo);
    const open = () => openMember(disk, folder, spec, connector, options);
    return { name, state, weight, movedTo: target, open: location === undefined ? undefined : open };
  });
  const placement = options.placement ?? PLACEMENTS[connector.placement];
  return new Instance({ signature, replicas, members }, { ...options, placement });
}

async function loadCodecs(connector: Connector, folder: string, codecs: Codecs): Promise<void> {
  for (const { name, module } of connector.codecs) codecs.register(await loadCodec(name, module, folder));
}

/** A folder of an instance that cannot be opened is a volume that does not answer: the others go on. */
async function openMember(
  disk: Disk,
  base: string,
  spec: VolumeSpec,
  connector: Connector,
  options: OpenInstanceOptions,
): Promise<Volume> {
  const { location } = spec;
  if (location === undefined) throw new ArchiveError("HT_PEER_UNAVAILABLE", `volume ${spec.name} has moved`);
  if (location.kind === "server") {
    return openServer(disk, base, location, connector.volumes.length === 1 ? PATIENT : AMONG_OTHERS, options);
  }
  const folder = resolve(base, location.path);
  try {
    // An empty folder may be the place of a disk that is not mounted: only what is not there at all is made.
    if (options.create === true && spec.state === "writable" && disk.stat(folder) === undefined) {
      const { signature } = connector;
      const { treeDepth, layout = treeDepth === undefined ? "pack" : "tree" } = spec;
      createVolume(
        disk,
        folder,
        { signature, layout, ...(treeDepth === undefined ? {} : { treeDepth }) },
        options.random,
      );
    }
    return await openVolume(disk, folder, quiet(options));
  } catch (error) {
    if (!(error instanceof ArchiveError) || connector.volumes.length === 1) throw error;
    if (error.code === "HT_FORMAT_TOO_NEW") throw error;
    throw new ArchiveError("HT_PEER_UNAVAILABLE", `volume ${spec.name}: ${error.message}`, error.place, error);
  }
}

function openServer(
  disk: Disk,
  base: string,
  location: ServerLocation,
  defaults: Deadlines,
  { random }: OpenInstanceOptions,
): RemoteVolume {
  const { url, tokenFile, caFile, connectTimeout, answerTimeout, idleTimeout } = location;
  const ms = (seconds: number | undefined, otherwise: number) => (seconds === undefined ? otherwise : 1000 * seconds);
  const read = (file: string | undefined, sizeMax: number) =>
    file === undefined ? undefined : Buffer.from(readAll(disk, resolve(base, file), sizeMax)).toString("utf8");
  return new RemoteVolume({
    url,
    token: read(tokenFile, TOKEN_SIZE_MAX)?.trim(),
    ca: read(caFile, CERTIFICATES_SIZE_MAX),
    deadlines: {
      connectTimeoutMs: ms(connectTimeout, defaults.connectTimeoutMs),
      answerTimeoutMs: ms(answerTimeout, defaults.answerTimeoutMs),
      idleTimeoutMs: ms(idleTimeout, defaults.idleTimeoutMs),
    },
    random,
  });
}

/** What a volume of this machine is opened with; what it tolerates is told like what the instance does. */
function quiet({ codecs, clock, random, reading = false, onWarning }: OpenInstanceOptions) {
  return {
    codecs,
    reading,
    ...(clock === undefined ? {} : { clock }),
    ...(random === undefined ? {} : { random }),
    onWarning: ({ code, message, file }: { code: ArchiveError["code"]; message: string; file: string }) =>
      onWarning?.({ code, message, volume: file }),
  };
}

function readAll(disk: Disk, path: string, sizeMax: number): Uint8Array {
  using file = disk.open(path, "read");
  const bytes = Buffer.alloc(Math.min(file.size(), sizeMax));
  return bytes.subarray(0, file.read(bytes, 0));
}
