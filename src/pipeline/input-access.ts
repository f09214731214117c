/** Who may read what is made from inputs. */
import { type Access, commonAccess, type Disk } from "../disk/index.ts";
import type { Input } from "./inputs.ts";

/** Those who may read all of the inputs; absent where nothing is known of them, as of files on a server. */
export function accessOf(disk: Disk, inputs: readonly Pick<Input, "path">[]): Access | undefined {
  return commonAccess(inputs.flatMap(({ path }) => disk.stat(path) ?? []));
}
