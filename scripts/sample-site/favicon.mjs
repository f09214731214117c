/** The favicon: a pinned label, 32 pixels square, as a PNG inside an ICO. */
import { colour, encodePng, mix, paint, segmentDistance, smooth } from "./paint.mjs";

const RED = colour("#8c2f1b");

export function favicon() {
  const at = (x, y) => {
    const head = Math.hypot(x - 17, y - 6);
    if (head < 4.5) return mix(colour("#f6dc94"), colour("#b8832a"), smooth(0, 4.5, Math.hypot(x - 15.8, y - 4.8)));
    if (segmentDistance(x, y, 17, 8, 16, 18) < 1) return colour("#33291f");
    const inset = Math.min(x - 2, 30 - x, y - 13, 29 - y);
    if (inset < 0) return colour("#22404a");
    const written = [17, 20.5, 24].some((line) => Math.abs(y - line) < 0.8 && x > 6 && x < 26 - (line - 17) * 1.4);
    return inset < 1.5 || written ? RED : colour("#fbf6e9");
  };
  const png = encodePng(paint(32, 32, at), 24);
  const head = Buffer.alloc(22);
  head.writeUInt16LE(1, 2);
  head.writeUInt16LE(1, 4);
  head.set([32, 32], 6);
  head.writeUInt16LE(1, 10);
  head.writeUInt16LE(8, 12);
  head.writeUInt32LE(png.length, 14);
  head.writeUInt32LE(22, 18);
  return Buffer.concat([head, png]);
}
