/** The two insect plates, painted by code: the Lantern Swallowtail and the Orchard Beetle (in two lights). */
import {
  clamp,
  colour,
  curve,
  encodePng,
  grain,
  lineOf,
  mix,
  paint,
  ramp,
  scale,
  segmentDistance,
  smooth,
} from "./paint.mjs";

const CREAM = colour("#f6f0de");
const SHADOW = colour("#d9cdb2");
const INK = colour("#20140d");

const FOREWING = curve(
  [
    [5, -26],
    [38, -62],
    [84, -96],
    [128, -116],
    [150, -114],
    [156, -102],
    [146, -74],
    [134, -44],
    [127, -18],
    [118, -4],
    [92, 0],
    [52, 2],
    [6, -4],
  ],
  7,
  true,
);
const forewingInside = lineOf(FOREWING, { closed: true, far: 12 });
const forewingMargin = lineOf(FOREWING.slice(5 * 7, 9 * 7 + 1));

const HINDWING = curve(
  [
    [5, -8],
    [60, -8],
    [112, -4],
    [121, 14],
    [114, 27],
    [113, 41],
    [102, 51],
    [100, 66],
    [88, 74],
    [90, 94],
    [97, 114],
    [94, 129],
    [84, 130],
    [79, 117],
    [74, 97],
    [68, 86],
    [58, 92],
    [46, 86],
    [36, 91],
    [24, 76],
    [12, 42],
  ],
  6,
  true,
);
const hindwingInside = lineOf(HINDWING, { closed: true, far: 12 });
const hindwingMargin = lineOf(HINDWING.slice(2 * 6, 18 * 6 + 1));

const FOREWING_GLOW = [
  [0, colour("#4a1c0c")],
  [26, colour("#9a3d12")],
  [62, colour("#d9761a")],
  [100, colour("#f2b23c")],
  [135, colour("#fbdf8a")],
  [170, colour("#fdeab0")],
];
const HINDWING_GLOW = [
  [0, colour("#55200d")],
  [30, colour("#b04c14")],
  [62, colour("#e59425")],
  [90, colour("#f8cf68")],
];

const antenna = lineOf(
  curve([
    [2, -44],
    [12, -66],
    [27, -88],
    [44, -104],
  ]),
);

export function lanternSwallowtail() {
  const centreX = 200;
  const centreY = 142;
  const at = (px, py) => {
    const x = Math.abs(px - centreX) / 1.08;
    const y = (py - centreY) / 1.08;
    return body(x, y, px < centreX) ?? forewing(x, y) ?? hindwing(x, y) ?? ground(px, py, centreX, centreY);
  };
  return encodePng(paint(348, 261, at, { zoom: 400 / 348 }), 40);
}

function ground(px, py, centreX, centreY) {
  const x = Math.abs(px - 6 - centreX) / 1.08;
  const y = (py - 8 - centreY) / 1.08;
  const near = Math.max(forewingInside(x, y), hindwingInside(x, y));
  return mix(CREAM, SHADOW, smooth(-7, 5, near));
}

function forewing(x, y) {
  const inside = forewingInside(x, y);
  if (inside < 0) return undefined;
  const r = Math.hypot(x - 4, y + 18);
  const angle = Math.atan2(-(y + 18), x - 4);
  const margin = forewingMargin(x, y);
  let tint = ramp(FOREWING_GLOW, r);
  // The lantern bars: dark strokes falling from the leading edge, each shorter than the one before.
  const along = x * 0.78 - y * 0.62;
  for (const [centre, width, reach] of [
    [62, 5.5, 44],
    [92, 6, 38],
    [122, 6.5, 30],
    [147, 5, 22],
  ]) {
    const depth = inside / reach;
    tint = mix(tint, INK, smooth(width, width - 2.6, Math.abs(along - centre) + depth * 4) * smooth(1.1, 0.8, depth));
  }
  const cell = cells(angle, 0.02, 0.86, 8);
  tint = mix(tint, INK, smooth(1.5, 0.5, cell.edge * r));
  tint = scale(tint, 1 + 0.07 * Math.cos(cell.phase * Math.PI * 2));
  tint = mix(tint, INK, smooth(19, 14, margin + 2.6 * Math.cos(cell.phase * Math.PI * 2)));
  tint = mix(tint, colour("#f8d777"), lune(margin - 7.5, (cell.phase - 0.5) * cell.width * r, 2.7, 4.6));
  tint = mix(tint, INK, smooth(3, 1.6, inside));
  return tint;
}

function hindwing(x, y) {
  const inside = hindwingInside(x, y);
  if (inside < 0) return undefined;
  const r = Math.hypot(x - 5, y + 2);
  const angle = Math.atan2(y + 2, x - 5);
  const margin = hindwingMargin(x, y);
  const cell = cells(angle, 0.02, 1.36, 7);
  let tint = ramp(HINDWING_GLOW, r);
  tint = mix(tint, INK, smooth(1.5, 0.5, cell.edge * r));
  tint = scale(tint, 1 + 0.07 * Math.cos(cell.phase * Math.PI * 2));
  tint = mix(tint, INK, smooth(33, 25, margin + 3 * Math.cos(cell.phase * Math.PI * 2)));
  const across = (cell.phase - 0.5) * cell.width * r;
  tint = mix(tint, colour("#3f78b5"), 0.92 * lune(margin - 20, across, 4.2, 6.4));
  tint = mix(tint, colour("#8fc3e2"), 0.8 * lune(margin - 19, across, 1.6, 3.4));
  tint = mix(tint, colour("#f6cf63"), lune(margin - 7.6, across, 3, 5.4));
  const eye = Math.hypot((x - 34) / 1.05, y - 70);
  tint = mix(tint, colour("#c8371d"), smooth(9.5, 8, eye));
  tint = mix(tint, INK, smooth(5, 4, Math.hypot(x - 34, y - 67.5)));
  tint = mix(tint, colour("#a9cfe8"), smooth(1.8, 1, Math.hypot(x - 32.8, y - 66.4)));
  tint = mix(tint, INK, smooth(3, 1.6, inside));
  return tint;
}

/** Where an angle lies among the cells between the veins: distance to the nearest vein, and place in the cell. */
function cells(angle, from, to, count) {
  const width = (to - from) / count;
  const place = (angle - from) / width;
  const phase = place - Math.floor(place);
  return { phase, width, edge: Math.min(phase, 1 - phase) * width };
}

const lune = (along, across, thick, wide) => smooth(1.15, 0.75, Math.hypot(along / thick, across / wide));

function body(x, y, lit) {
  const pin = Math.hypot(x, y + 20);
  if (pin < 3.4) return mix(colour("#fdfaf0"), colour("#8d8672"), smooth(0.4, 3.4, pin + (lit ? -0.6 : 0.4)));
  const abdomen = y > -6 && y < 62 ? 6.2 * Math.sqrt(clamp(1 - ((y - 16) / 48) ** 2)) - x : -1;
  const thorax = 1 - Math.hypot(x / 9.5, (y + 20) / 19);
  const head = 1 - Math.hypot(x / 6.2, (y + 42) / 5.6);
  const eye = Math.hypot(x - 4.6, y + 44);
  if (eye < 2.6) return mix(colour("#6b4a2a"), INK, eye / 2.6);
  if (thorax > 0 || head > 0) {
    const light = clamp(thorax > 0 ? thorax * 1.3 : head);
    return scale(mix(colour("#2b170d"), colour("#8a5a2b"), light), 0.9 + 0.2 * grain(x * 1.4, y * 0.5));
  }
  if (abdomen > 0) {
    const ring = Math.cos(y * 0.86);
    return mix(mix(colour("#2b170d"), colour("#c98a3a"), clamp(abdomen / 7)), INK, ring > 0.72 ? 0.55 : 0);
  }
  const feeler = antenna(x, y);
  const club = segmentDistance(x, y, 39, -100, 44.5, -104.5);
  return feeler < 0.9 || club < 2.1 ? INK : undefined;
}

const LEGS = [
  [
    [22, -34],
    [52, -52],
    [70, -84],
    [83, -94],
  ],
  [
    [26, -4],
    [60, -2],
    [88, 22],
    [104, 28],
  ],
  [
    [26, 18],
    [56, 36],
    [80, 78],
    [96, 92],
  ],
];
const feelerLine = lineOf(
  curve([
    [9, -80],
    [24, -98],
    [44, -108],
    [68, -110],
    [90, -122],
  ]),
);

/** `light` is "lamp" (the old photograph, from the left, greenish) or "window" (the new one, from above, copper). */
export function orchardBeetle(light) {
  const lamp = light === "lamp";
  const sun = lamp ? unit(-0.55, -0.5, 0.67) : unit(0.34, -0.62, 0.71);
  const cream = lamp ? CREAM : colour("#f3f0ea");
  const at = (px, py) => {
    const x = px - 200;
    const y = (py - 158) / 1.02;
    const ax = Math.abs(x);
    const shell = elytra(x, y, sun, lamp) ?? shield(x, y, sun, lamp);
    if (shell !== undefined) return shell;
    const leg = limbs(ax, y, lamp);
    if (leg !== undefined) return leg;
    const sx = x - (lamp ? 9 : -6);
    const sy = y - 10;
    const near = Math.max(1 - Math.hypot(sx / 62, (sy - 34) / 92), (1 - Math.hypot(sx / 46, (sy + 56) / 44)) * 0.8);
    const legs = Math.min(...legLines.map((line) => line(Math.abs(sx), sy)));
    const shade = Math.max(smooth(-0.16, 0.1, near), 0.55 * smooth(7, 2, legs));
    return mix(cream, mix(SHADOW, cream, 0.1), shade);
  };
  return encodePng(paint(350, 280, at, { zoom: 400 / 350 }), 40);
}

const legLines = LEGS.map((leg) => lineOf(leg));

function unit(x, y, z) {
  const length = Math.hypot(x, y, z);
  return [x / length, y / length, z / length];
}

/** Light on a glossy, iridescent surface: a hue that turns with the slope, and two highlights. */
function gloss([nx, ny, nz], sun, lamp, hue) {
  const facing = nx * sun[0] + ny * sun[1] + nz * sun[2];
  const turn = clamp(0.5 + 0.5 * (facing * 0.9 - hue));
  const stops = lamp
    ? [
        [0, colour("#0c1a14")],
        [0.35, colour("#14503a")],
        [0.62, colour("#2f8a4c")],
        [0.85, colour("#a8b948")],
        [1, colour("#e8d27a")],
      ]
    : [
        [0, colour("#150d1c")],
        [0.3, colour("#3b2a63")],
        [0.55, colour("#1c6c74")],
        [0.78, colour("#b5642c")],
        [1, colour("#f0b56a")],
      ];
  const tint = scale(ramp(stops, turn), 0.45 + 0.65 * clamp(facing));
  return mix(tint, colour("#fffbe8"), 0.85 * clamp(2 * facing * nz - sun[2]) ** 26);
}

function elytra(x, y, sun, lamp) {
  const cx = x / 56;
  const cy = (y - 36) / (y < 36 ? 78 : 92);
  const whole = 1 - cx * cx - Math.abs(cy) ** 2.25;
  if (whole < 0) return undefined;
  const suture = Math.abs(x);
  const lane = (Math.abs(cx) / Math.sqrt(clamp(1 - Math.abs(cy) ** 2.25, 0.02))) * 8;
  const groove = Math.abs(lane - Math.round(lane));
  const pits = 0.5 + 0.5 * Math.cos(y * 0.92 + Math.round(lane) * 2.1);
  const dent = smooth(0.22, 0.05, groove) * (0.35 + 0.65 * pits);
  const bend = clamp(Math.round(lane) - lane, -0.3, 0.3) * dent * 1.3 * Math.sign(x || 1);
  const nz = Math.sqrt(clamp(whole, 0.01)) + 0.12;
  const normal = unit(cx * 1.02 + bend, (y < 36 ? 0.62 : 0.7) * cy, nz);
  let tint = gloss(normal, sun, lamp, 0.1 + 0.35 * dent);
  tint = mix(tint, INK, 0.35 * dent);
  tint = mix(tint, INK, smooth(1.5, 0.6, suture) * 0.9);
  return mix(tint, INK, smooth(0.09, 0.01, whole));
}

function shield(x, y, sun, lamp) {
  const sx = x / (40 + 6 * Math.cos((y + 62) * 0.055));
  const sy = (y + 61) / 24;
  const inside = 1 - Math.abs(sx) ** 2.6 - Math.abs(sy) ** 2.8;
  if (inside >= 0) {
    const nz = Math.sqrt(clamp(inside, 0.01)) + 0.2;
    const middle = smooth(1.8, 0.4, Math.abs(x)) * 0.5;
    const tint = gloss(unit(sx * 0.9, sy * 0.75, nz), sun, lamp, lamp ? 0.28 : -0.05);
    return mix(tint, INK, Math.max(middle, smooth(0.16, 0.02, inside)));
  }
  const hx = x / 20;
  const hy = (y + 96) / 20;
  const skull = 1 - hx * hx - Math.abs(hy) ** 2.4;
  const eye = Math.hypot((Math.abs(x) - 18) / 5.4, (y + 97) / 6.4);
  if (eye < 1) return mix(colour("#4a3a26"), INK, smooth(0.1, 0.8, eye + (x < 0 ? 0 : 0.2)));
  if (skull >= 0) {
    const nz = Math.sqrt(clamp(skull, 0.01)) + 0.2;
    return mix(gloss(unit(hx * 0.8, hy * 0.7, nz), sun, lamp, 0.35), INK, smooth(0.2, 0.02, skull));
  }
  return undefined;
}

function limbs(ax, y, lamp) {
  const jaw = Math.abs(Math.hypot(ax - 1, y + 118) - 11) + (y > -112 ? 4 : 0) + (ax < 1.5 ? 3 : 0);
  if (jaw < 2.6 && y < -110) return mix(colour("#5b3116"), INK, jaw / 3);
  const hue = lamp ? colour("#5d3417") : colour("#4b2a2e");
  for (const [a, b, c, d] of LEGS) {
    const thigh = segmentDistance(ax, y, a[0], a[1], b[0], b[1]) / 6.2;
    const shin = segmentDistance(ax, y, b[0], b[1], c[0], c[1]) / 3.6;
    const beads = 1.7 + 0.8 * Math.abs(Math.sin(Math.hypot(ax - c[0], y - c[1]) * 0.72));
    const foot = segmentDistance(ax, y, c[0], c[1], d[0], d[1]) / beads;
    const near = Math.min(thigh, shin, foot);
    if (near < 1) return mix(mix(hue, colour("#b98550"), 0.4), INK, smooth(0, 1, near));
  }
  const feeler = feelerLine(ax, y);
  const bead = 1.6 + 0.9 * Math.abs(Math.sin(Math.hypot(ax - 9, y + 80) * 0.3));
  return feeler < bead ? mix(hue, INK, feeler / bead) : undefined;
}
