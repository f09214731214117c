/**
 * A small painter: a picture is a function from a point to a colour, sampled on a grid, reduced to a palette and
 * written as an indexed PNG. Nothing here depends on the clock or on chance, so the same code gives the same bytes.
 */
import { crc32, deflateSync } from "node:zlib";

/** Colours are [red, green, blue], each from 0 to 255, not necessarily whole. */
export function colour(hex) {
  return [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
}

export const clamp = (value, low = 0, high = 1) => Math.min(high, Math.max(low, value));

export function smooth(from, to, value) {
  const t = clamp((value - from) / (to - from));
  return t * t * (3 - 2 * t);
}

export function mix(a, b, t) {
  return [a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t, a[2] + (b[2] - a[2]) * t];
}

export const scale = (a, by) => [a[0] * by, a[1] * by, a[2] * by];

/** Picks from a list of [position, colour] stops in rising order. */
export function ramp(stops, at) {
  if (at <= stops[0][0]) return stops[0][1];
  for (let i = 1; i < stops.length; i++) {
    const [from, a] = stops[i - 1];
    const [to, b] = stops[i];
    if (at <= to) return mix(a, b, (at - from) / (to - from));
  }
  return stops[stops.length - 1][1];
}

/** A repeatable number in [0, 1) for a pair of whole numbers. */
export function grain(x, y) {
  let h = Math.imul(x | 0, 0x27d4eb2d) ^ Math.imul(y | 0, 0x165667b1);
  h = Math.imul(h ^ (h >>> 15), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return ((h ^ (h >>> 16)) >>> 0) / 4294967296;
}

export function segmentDistance(x, y, ax, ay, bx, by) {
  const dx = bx - ax;
  const dy = by - ay;
  const t = clamp(((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy || 1));
  const ex = x - ax - dx * t;
  const ey = y - ay - dy * t;
  return Math.sqrt(ex * ex + ey * ey);
}

/** A line, or with `closed` an outline, as a function to the distance from it; inside an outline it is positive,
 *  outside negative, and from `far` pixels outside its box on it is only said to be `far`. */
export function lineOf(points, { closed = false, far = 40 } = {}) {
  const xs = Float64Array.from(points, (point) => point[0]);
  const ys = Float64Array.from(points, (point) => point[1]);
  const [west, east] = [xs.reduce((a, b) => Math.min(a, b)) - far, xs.reduce((a, b) => Math.max(a, b)) + far];
  const [north, south] = [ys.reduce((a, b) => Math.min(a, b)) - far, ys.reduce((a, b) => Math.max(a, b)) + far];
  return (x, y) => {
    if (x < west || x > east || y < north || y > south) return closed ? -far : far;
    let inside = false;
    let least = Infinity;
    for (let i = closed ? 0 : 1, j = closed ? xs.length - 1 : 0; i < xs.length; j = i++) {
      const dx = xs[j] - xs[i];
      const dy = ys[j] - ys[i];
      const px = x - xs[i];
      const py = y - ys[i];
      let t = (px * dx + py * dy) / (dx * dx + dy * dy);
      t = t < 0 ? 0 : t > 1 ? 1 : t;
      const ex = px - dx * t;
      const ey = py - dy * t;
      const square = ex * ex + ey * ey;
      if (square < least) least = square;
      if (py < 0 !== py < dy && px < (dx * py) / dy) inside = !inside;
    }
    return closed && !inside ? -Math.sqrt(least) : Math.sqrt(least);
  };
}

/** A Catmull-Rom curve through the points, as a polyline of `steps` pieces between each two. */
export function curve(points, steps = 7, closed = false) {
  const at = (i) => (closed ? points[(i + points.length) % points.length] : points[clamp(i, 0, points.length - 1)]);
  const line = [];
  const spans = closed ? points.length : points.length - 1;
  for (let i = 0; i < spans; i++) {
    const [p, q, r, s] = [at(i - 1), at(i), at(i + 1), at(i + 2)];
    for (let k = 0; k < steps; k++) {
      const t = k / steps;
      line.push(
        [0, 1].map(
          (c) =>
            0.5 *
            (2 * q[c] +
              (r[c] - p[c]) * t +
              (2 * p[c] - 5 * q[c] + 4 * r[c] - s[c]) * t * t +
              (3 * q[c] - p[c] - 3 * r[c] + s[c]) * t * t * t),
        ),
      );
    }
  }
  if (!closed) line.push(points[points.length - 1]);
  return line;
}

/** Samples `colourAt(x, y)`, `across` times `across` samples a pixel; a pixel is `zoom` units wide. */
export function paint(width, height, colourAt, { zoom = 1, across = 3 } = {}) {
  const pixels = new Uint8Array(width * height * 3);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const sum = [0, 0, 0];
      for (let k = 0; k < across * across; k++) {
        const sampleX = x + ((k % across) + 0.5) / across;
        const sampleY = y + (Math.floor(k / across) + 0.5) / across;
        const point = colourAt(sampleX * zoom, sampleY * zoom);
        for (let c = 0; c < 3; c++) sum[c] += clamp(point[c], 0, 255);
      }
      // Steps of three are finer than the palette will be, and leave far fewer colours to choose it from.
      for (let c = 0; c < 3; c++) pixels[(y * width + x) * 3 + c] = Math.round(sum[c] / (across * across) / 3) * 3;
    }
  }
  return { width, height, pixels };
}

/** An indexed PNG of at most `colours` colours. */
export function encodePng(picture, colours) {
  const { palette, indices } = quantise(picture, colours);
  const { width, height } = picture;
  const rows = new Uint8Array((width + 1) * height);
  for (let y = 0; y < height; y++) rows.set(indices.subarray(y * width, (y + 1) * width), y * (width + 1) + 1);
  const header = new Uint8Array(13);
  const view = new DataView(header.buffer);
  view.setUint32(0, width);
  view.setUint32(4, height);
  header.set([8, 3, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]),
    pngChunk("IHDR", header),
    pngChunk("PLTE", Uint8Array.from(palette.flat())),
    pngChunk("IDAT", deflateSync(rows, { level: 9 })),
    pngChunk("IEND", new Uint8Array(0)),
  ]);
}

function pngChunk(name, data) {
  const chunk = Buffer.alloc(data.length + 12);
  chunk.writeUInt32BE(data.length, 0);
  chunk.write(name, 4, "latin1");
  chunk.set(data, 8);
  chunk.writeUInt32BE(crc32(chunk.subarray(4, data.length + 8)), data.length + 8);
  return chunk;
}

/** Median cut, then three rounds of moving each palette entry to the middle of the colours it stands for. */
function quantise({ pixels }, count) {
  const seen = new Map();
  for (let i = 0; i < pixels.length; i += 3) {
    const key = (pixels[i] << 16) | (pixels[i + 1] << 8) | pixels[i + 2];
    seen.set(key, (seen.get(key) ?? 0) + 1);
  }
  const colours = [...seen].map(([key, weight]) => ({ key, weight, rgb: [key >> 16, (key >> 8) & 255, key & 255] }));
  const ground = colours.reduce((most, entry) => (entry.weight > most.weight ? entry : most));
  let palette = medianCut(colours, count).map(middle);
  let nearest = new Map();
  for (let round = 0; round < 5; round++) {
    const groups = palette.map(() => []);
    nearest = new Map();
    for (const entry of colours) {
      const index = nearestIndex(palette, entry.rgb);
      nearest.set(entry.key, index);
      groups[index].push(entry);
    }
    if (round < 3) palette = palette.map((old, i) => (groups[i].length > 0 ? middle(groups[i]) : old));
    // The ground must come out exactly, so that a picture and the page behind it are one surface.
    if (round === 3) palette[nearest.get(ground.key)] = ground.rgb;
  }
  const indices = new Uint8Array(pixels.length / 3);
  for (let i = 0; i < indices.length; i++) {
    indices[i] = nearest.get((pixels[i * 3] << 16) | (pixels[i * 3 + 1] << 8) | pixels[i * 3 + 2]);
  }
  return { palette, indices };
}

function medianCut(colours, count) {
  const boxes = [colours];
  while (boxes.length < count) {
    let best = { at: -1, channel: 0, worth: 0 };
    boxes.forEach((box, at) => {
      for (let channel = 0; channel < 3; channel++) {
        const values = box.map((entry) => entry.rgb[channel]);
        const range = values.reduce((a, b) => Math.max(a, b)) - values.reduce((a, b) => Math.min(a, b));
        const worth = range * Math.sqrt(box.reduce((sum, entry) => sum + entry.weight, 0) ** 0.5);
        if (worth > best.worth) best = { at, channel, worth };
      }
    });
    if (best.at < 0) break;
    const box = boxes[best.at].sort((a, b) => a.rgb[best.channel] - b.rgb[best.channel] || a.key - b.key);
    const low = box[0].rgb[best.channel];
    const half = (low + box[box.length - 1].rgb[best.channel]) / 2;
    const cut = Math.max(
      1,
      box.findIndex((entry) => entry.rgb[best.channel] > half),
    );
    boxes.splice(best.at, 1, box.slice(0, cut), box.slice(cut));
  }
  return boxes;
}

function middle(entries) {
  const total = entries.reduce((sum, entry) => sum + entry.weight, 0);
  return [0, 1, 2].map((c) => Math.round(entries.reduce((sum, e) => sum + e.rgb[c] * e.weight, 0) / total));
}

function nearestIndex(palette, [r, g, b]) {
  let best = 0;
  let least = Infinity;
  for (let i = 0; i < palette.length; i++) {
    const p = palette[i];
    const distance = (p[0] - r) ** 2 + (p[1] - g) ** 2 * 2 + (p[2] - b) ** 2;
    if (distance < least) {
      least = distance;
      best = i;
    }
  }
  return best;
}
