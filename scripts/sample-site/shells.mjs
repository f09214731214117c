/** Two plates from the sea, and two papers: the Clockmaker's Ammonite, the Typesetter's Urchin, marbled and slate. */
import { clamp, colour, encodePng, grain, mix, paint, ramp, scale, smooth } from "./paint.mjs";

const CREAM = colour("#f6f0de");
const SHADOW = colour("#d3c6aa");
const INK = colour("#20140d");
const TURN = Math.PI * 2;
const SUN = [-0.52, -0.58, 0.63];

/** Lights a height field from the upper left. The slope is taken over half a pixel. */
function lit(heightAt, x, y, depth) {
  const here = heightAt(x, y);
  const nx = (here - heightAt(x + 0.5, y)) * 2 * depth;
  const ny = (here - heightAt(x, y + 0.5)) * 2 * depth;
  const length = Math.sqrt(nx * nx + ny * ny + 1);
  const facing = (nx * SUN[0] + ny * SUN[1] + SUN[2]) / length;
  return { facing, shine: clamp((2 * facing) / length - SUN[2]) };
}

// A whorl grows by the factor GROWTH a turn; the shell makes TURNS turns and ends at the mouth.
const GROWTH = 1.94;
const RATE = Math.log(GROWTH) / TURN;
const MOUTH = 0.62;
const OUTER = 171;

/** Which whorl a point lies in: the whole angle wound so far (0 at the mouth, falling inward) and place across it. */
function whorlAt(x, y) {
  const r = Math.sqrt(x * x + y * y) || 1e-6;
  const theta = Math.atan2(y, x) - MOUTH;
  const turn = theta < 0 ? theta + TURN : theta;
  const place = (Math.log(r / OUTER) / RATE - (turn - TURN)) / TURN;
  const whorl = Math.ceil(place);
  return { r, across: place - whorl + 1, wound: turn - TURN + whorl * TURN };
}

function ammoniteHeight(x, y) {
  const { r, across, wound } = whorlAt(x, y);
  if (wound > 0) return 0;
  const girth = r * (1 - 1 / GROWTH);
  const ridge = Math.sqrt(clamp(1 - (2 * across - 1) ** 2));
  const rib = Math.cos(wound * 17 + (across - 0.5) ** 2 * 3.2);
  return girth * (0.42 * ridge + 0.052 * rib * smooth(0, 0.25, across) * smooth(1, 0.72, across));
}

const PEARL = [
  [0, colour("#5a3216")],
  [0.22, colour("#a85a22")],
  [0.42, colour("#cf9f4a")],
  [0.6, colour("#8fa46a")],
  [0.8, colour("#4f8f8c")],
  [1, colour("#7b5f86")],
];

export function clockmakersAmmonite() {
  const at = (px, py) => {
    const x = px - 194;
    const y = py - 164;
    const { r, across, wound } = whorlAt(x, y);
    if (wound > 0) {
      const cast = whorlAt(x - 8, y - 9);
      const edge = cast.wound <= 0 ? -4 : cast.wound < TURN ? cast.across * cast.r * 0.5 : 99;
      return mix(CREAM, SHADOW, smooth(9, -3, edge));
    }
    const { facing, shine } = lit(ammoniteHeight, x, y, 1.7);
    const band = 0.5 + 0.32 * Math.sin(wound * 0.85 + 1) + 0.2 * Math.sin(across * 5 + wound * 2.2);
    let tint = scale(ramp(PEARL, clamp(band)), 0.5 + 0.72 * clamp(facing));
    const suture = Math.abs(
      (((wound * 17) / TURN + 0.17 * Math.sin(across * 21) + 0.05 * Math.sin(across * 63) + 400.5) % 1) - 0.5,
    );
    tint = mix(tint, INK, 0.42 * smooth(0.055, 0.02, suture) * smooth(10, 30, r));
    tint = mix(tint, INK, 0.8 * smooth(0.07, 0, Math.min(across, 1 - across)));
    return mix(tint, colour("#fff6dd"), 0.6 * shine ** 14);
  };
  return encodePng(paint(350, 280, at, { zoom: 400 / 350 }), 40);
}

const RADIUS = 128;
const WIDE_ROWS = [-0.52, 0.52];
const NARROW_ROWS = [-0.46, 0, 0.46];

/** The nearest boss of the urchin's test: how far, and how big it is there. Ten double rows, larger at the rim. */
function bossAt(x, y) {
  const r = Math.sqrt(x * x + y * y);
  const sector = TURN / 10;
  const angle = Math.atan2(x, -y) + TURN;
  const index = Math.round(angle / sector);
  const offset = angle - index * sector;
  const wide = index % 2 === 0;
  const polar = Math.asin(clamp(r / RADIUS, 0, 0.999));
  const ring = wide ? 10.5 : 17;
  let distance = Infinity;
  let size = 1;
  for (const row of wide ? WIDE_ROWS : NARROW_ROWS) {
    const shift = row === 0 || row > 0 !== wide ? 0 : 0.5;
    const step = Math.round((polar / (Math.PI / 2)) * ring - shift) + shift;
    const bossPolar = (step / ring) * (Math.PI / 2);
    if (bossPolar < 0.2) continue;
    const bossR = Math.sin(bossPolar) * RADIUS;
    const bossAngle = row * sector * (wide ? 0.5 : 0.42);
    const dx = (offset - bossAngle) * bossR;
    const dy = (r - bossR) / Math.max(0.35, Math.cos(bossPolar));
    const bossSize = (wide ? 8.6 : 4) * Math.sin(bossPolar) ** 0.7 + 0.6;
    const bossDistance = Math.sqrt(dx * dx + dy * dy);
    if (bossDistance / bossSize < distance / size) {
      distance = bossDistance;
      size = bossSize;
    }
  }
  return { distance, size, wide, r, offset, sector };
}

function urchinHeight(x, y) {
  const { r, distance, size } = bossAt(x, y);
  if (r > RADIUS) return 0;
  const dome = Math.sqrt(RADIUS * RADIUS - r * r) * 0.55;
  const near = distance / size;
  const boss = near < 1 ? size * 0.32 * Math.sqrt(1 - near * near) : 0;
  const knob = near < 0.42 ? size * 0.34 * Math.sqrt(1 - (near / 0.42) ** 2) : 0;
  return dome + boss + knob;
}

export function typesettersUrchin() {
  const at = (px, py) => {
    const x = px - 180;
    const y = (py - 142) * 1.02;
    const boss = bossAt(x, y);
    if (boss.r > RADIUS) return mix(CREAM, SHADOW, smooth(RADIUS + 8, RADIUS - 6, Math.hypot(x - 8, y - 10)));
    const { facing, shine } = lit(urchinHeight, x, y, 1);
    const side = Math.abs(boss.offset) / (boss.sector / 2);
    let tint = boss.wide
      ? mix(colour("#c98a86"), colour("#8d4f6b"), smooth(0.1, 1, side))
      : mix(colour("#f0d9bd"), colour("#b9837c"), smooth(0.2, 1, side));
    const near = boss.distance / boss.size;
    tint = mix(tint, colour("#f7e6d2"), 0.55 * smooth(1, 0.7, near));
    tint = mix(tint, colour("#5c3050"), 0.5 * smooth(0.2, 0.05, Math.abs(near - 1.06)));
    if (boss.wide) tint = mix(tint, colour("#5c3050"), 0.4 * smooth(1.6, 0.5, Math.abs(boss.offset) * boss.r));
    tint = scale(tint, 0.42 + 0.72 * clamp(facing + 0.06));
    tint = apex(tint, boss.r, boss.offset, boss.wide);
    return mix(mix(tint, INK, 0.55 * smooth(RADIUS - 5, RADIUS, boss.r)), colour("#fff8ea"), 0.5 * shine ** 16);
  };
  return encodePng(paint(300, 242, at, { zoom: 368 / 300 }), 26);
}

/** The plates around the top: five petals and the opening in the middle. */
function apex(tint, r, offset, wide) {
  const rim = 25 + (wide ? 3.5 : -2.5) * Math.cos(offset * 5);
  if (r > rim + 1) return tint;
  const plate = mix(colour("#e9cdb2"), colour("#b4776e"), smooth(6, rim, r));
  const pore = wide ? Math.hypot(r - 18, offset * 18) : 99;
  let top = mix(plate, colour("#4b2740"), smooth(2.6, 1.6, pore));
  top = mix(top, colour("#4b2740"), 0.75 * smooth(1.3, 0.4, Math.abs(Math.abs(offset) - 0.314) * r));
  top = mix(top, colour("#3a1d33"), smooth(9.5, 8, r));
  return mix(top, colour("#5c3050"), smooth(rim - 1.4, rim, r));
}

/** Combed marbled paper, as on the inside of an old binding; it tiles. */
export function marbledPaper() {
  const size = 120;
  const inks = ["#7a2b20", "#efe0bd", "#2f4a4f", "#c79a4b", "#7a2b20", "#f3e8cc", "#26343a", "#b5583a"].map(colour);
  const at = (x, y) => {
    const tooth = (x / size) * 5;
    const fall = tooth - Math.floor(tooth) - 0.5;
    const wave = 6 * Math.sin((TURN * (x + 20)) / size) + 4 * Math.sin((TURN * 2 * y) / size + 1.2);
    const place = ((y + wave - 38 * (1 - 2 * Math.abs(fall)) ** 0.55) / size) * 24;
    const index = Math.floor(place);
    const vein = Math.abs(place - index - 0.5);
    const ink = inks[((index % 8) + 8) % 8];
    return mix(ink, colour("#3a2219"), 0.45 * smooth(0.4, 0.5, vein));
  };
  return encodePng(paint(size, size, at), 10);
}

/** The dark cloth behind the pages of 2013; it tiles. */
export function slateCloth() {
  const size = 64;
  const at = (x, y) => {
    const column = Math.floor(x);
    const row = Math.floor(y);
    const thread =
      (column + row) % 2 === 0 ? grain(column, Math.floor(row / 8)) : grain(Math.floor(column / 8), row + 97);
    return scale(colour("#2b3a3c"), 0.9 + 0.22 * thread);
  };
  return encodePng(paint(size, size, at, { across: 1 }), 10);
}
