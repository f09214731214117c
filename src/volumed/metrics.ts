/** What a volume server shows of its volume, beside what every server counts. */
import type { Measure } from "../http/index.ts";
import type { VolumeDescription } from "../store/index.ts";

export function volumeMeasures(volume: VolumeDescription): readonly Measure[] {
  const gauge = (name: string, help: string, value: number): Measure => ({ name, type: "gauge", help, value });
  return [
    gauge("blocks", "Distinct contents.", volume.blocks),
    gauge("references", "References of all blocks.", volume.references),
    gauge("content_bytes", "Bytes of contents.", volume.contentBytes),
    gauge("stored_bytes", "Bytes of contents as compressed.", volume.storedBytes),
    gauge("writable", "1 where the volume takes new contents.", volume.state === "writable" ? 1 : 0),
  ];
}
