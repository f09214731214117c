/** The line drawings, as SVG text: the cabinet, the fern, the radiolarian, the map in two editions, and the mark. */

const n = (value) => String(Math.round(value * 10) / 10);
const at = (x, y) => `${n(x)} ${n(y)}`;

function svg(width, height, title, body) {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>${title}</title>
${body}
</svg>
`;
}

/** A pinned label: the mark of the house. */
export function mark() {
  return svg(
    64,
    64,
    "The Cabinet of Holotypes",
    `<rect x="8" y="30" width="48" height="24" rx="2" fill="#fbf6e9" stroke="#8c2f1b" stroke-width="2.5"/>
<path d="M14 38h22M14 43h30M14 48h16" stroke="#8c2f1b" stroke-width="2" stroke-linecap="round"/>
<circle cx="47" cy="47.5" r="3.5" fill="#b8322a"/>
<path d="M33 14 31 33" stroke="#33291f" stroke-width="2" stroke-linecap="round"/>
<circle cx="33.5" cy="10" r="5.5" fill="#c9962f" stroke="#33291f" stroke-width="1.5"/>
<circle cx="31.8" cy="8.3" r="1.6" fill="#fbeec4"/>`,
  );
}

/** The cabinet itself, forty drawers and one of them open. */
export function cabinet() {
  const drawers = [];
  for (let row = 0; row < 8; row++) {
    for (let column = 0; column < 5; column++) {
      if (row === 4 && (column === 1 || column === 2 || column === 3)) continue;
      drawers.push(`<use href="#d" x="${62 + column * 56}" y="${84 + row * 40}"/>`);
    }
  }
  const pinned = [];
  for (let i = 0; i < 9; i++) {
    const x = 132 + (i % 9) * 17;
    const tall = 7 + ((i * 5) % 4);
    pinned.push(
      `<path d="M${x} 259c-${tall}-${tall + 3}-${tall + 2} 2-1 3-${tall} 2-5 8 1 2 6 6 8 0 1-2 ${tall + 1}-1 6-${tall + 8}-1-3z" fill="${["#c8782a", "#3f6f7a", "#8c2f1b", "#d6a94a", "#5d6b3a"][i % 5]}"/>`,
    );
  }
  return svg(
    400,
    480,
    "A tall mahogany cabinet with forty small drawers, one of them open",
    `<defs><g id="d"><rect width="52" height="36" rx="1.5" fill="#8a4b26" stroke="#3c1d0e" stroke-width="1.5"/><path d="M4 4h44v28H4z" fill="none" stroke="#a9683a"/><path d="M5 32h43V5" fill="none" stroke="#5f2f16"/><rect x="15" y="8" width="22" height="9" fill="#f3e7c8" stroke="#b98a2e"/><path d="M18 11h13M18 14h9" stroke="#7a5a3a" stroke-width=".8"/><circle cx="26" cy="25" r="3" fill="#d9ab49" stroke="#5f3d12"/></g></defs>
<ellipse cx="200" cy="458" rx="178" ry="12" fill="#000" opacity=".12"/>
<path d="M58 430h22l-6 28H64zM320 430h22l-6 28h-10z" fill="#4d2611"/>
<path d="M40 52h320v12l-8 8H48l-8-8z" fill="#6d3719"/><path d="M52 52c30-30 96-30 148-44 52 14 118 14 148 44z" fill="#7c4120"/><path d="M74 48c40-20 86-20 126-32 40 12 86 12 126 32" fill="none" stroke="#b67842" stroke-width="2"/>
<circle cx="200" cy="36" r="10" fill="#d9ab49" stroke="#5f3d12"/><path d="M200 36a2 2 0 0 1 3 1.5 4 4 0 0 1-7 1 5.5 5.5 0 0 1 4-8 7 7 0 0 1 6 3" fill="none" stroke="#5f3d12" stroke-width="1.3"/>
<rect x="48" y="72" width="304" height="360" fill="#5b2c14"/><rect x="54" y="78" width="292" height="348" fill="#40200f"/>
${drawers.join("")}
<path d="M44 406h312l6 12v16H38v-16z" fill="#6d3719"/><path d="M46 412h308" stroke="#a9683a" stroke-width="2"/>
<path d="M118 244h164v8H118z" fill="#2a140a"/><path d="M112 250h176l10 34H102z" fill="#f1e6cb" stroke="#3c1d0e" stroke-width="2"/>${pinned.join("")}<path d="M102 284h196v34H102z" fill="#94522b" stroke="#3c1d0e" stroke-width="2"/><rect x="176" y="290" width="48" height="11" fill="#f3e7c8" stroke="#b98a2e"/><path d="M182 294h32M182 297.500h22" stroke="#7a5a3a"/><circle cx="200" cy="310" r="4" fill="#d9ab49" stroke="#5f3d12"/>`,
  );
}

/** One leaflet, a blade from (x, y) along `angle`. */
function leaflet(x, y, angle, length) {
  const point = (along, aside) =>
    at(
      x + Math.cos(angle) * along * length - Math.sin(angle) * aside * length,
      y + Math.sin(angle) * along * length + Math.cos(angle) * aside * length,
    );
  return `M${at(x, y)}C${point(0.24, 0.34)} ${point(0.7, 0.2)} ${point(1, 0)}C${point(0.7, -0.2)} ${point(0.24, -0.34)} ${at(x, y)}Z`;
}

function frond(x, y, lean, length, bend) {
  let angle = -Math.PI / 2 + lean;
  const leaves = [];
  const spine = [at(x, y)];
  const steps = 17;
  for (let i = 0; i < steps; i++) {
    const t = i / steps;
    x += (Math.cos(angle) * length) / steps;
    y += (Math.sin(angle) * length) / steps;
    angle += bend / steps;
    spine.push(at(x, y));
    if (i < 3) continue;
    const size = length * 0.17 * Math.sin(Math.PI * (1 - t) ** 0.8) + 5;
    leaves.push(leaflet(x, y, angle - 1.25 + t * 0.5, size), leaflet(x, y, angle + 1.25 - t * 0.5, size));
  }
  return `<path d="${leaves.join("")}"/><path d="M${spine.join("L")}" fill="none" stroke="#3d2a17" stroke-width="1.8"/>`;
}

/** The herbarium sheet of the Mapmaker's Spleenwort. */
export function fern() {
  const fronds = [
    [196, 262, -0.62, 150, -0.5, "#77834a"],
    [204, 262, 0.66, 158, 0.55, "#6b7a41"],
    [198, 264, -0.24, 206, -0.18, "#5f7038"],
    [203, 264, 0.2, 232, 0.32, "#556632"],
  ];
  const drawn = fronds.map(
    ([x, y, lean, length, bend, tint]) => `<g fill="${tint}">${frond(x, y, lean, length, bend)}</g>`,
  );
  return svg(
    400,
    320,
    "A pressed fern of four fronds on a herbarium sheet",
    `<rect width="400" height="320" fill="#f6f0de"/><path d="M8 8h384v304H8z" fill="none" stroke="#d8caa6"/>
${drawn.join("\n")}
<path d="M198 262c-6 8-22 10-30 22M201 264c0 10-6 16-4 30M204 262c6 10 20 10 26 24M202 263c4 12 2 16 8 26" fill="none" stroke="#5a3d22" stroke-width="1.6"/><ellipse cx="200" cy="264" rx="9" ry="6" fill="#5a3d22"/>
<g fill="#fffdf4" opacity=".85" stroke="#d8caa6" stroke-width=".6"><path d="M182 214h34v6h-34z" transform="rotate(-8 199 217)"/><path d="M118 176h30v6h-30z" transform="rotate(40 133 179)"/><path d="M252 172h30v6h-30z" transform="rotate(-38 267 175)"/></g>
<g transform="translate(20 246)"><rect width="112" height="52" fill="#fffdf4" stroke="#a98f5c"/><path d="M0 13h112" stroke="#a98f5c"/><g font-family="Georgia,serif" fill="#4a3620"><text x="56" y="9.5" font-size="7.5" text-anchor="middle" letter-spacing="1">HERB. CABINET</text><text x="6" y="25" font-size="8.5" font-style="italic">Asplenium cartographi</text><text x="6" y="36" font-size="7">Wall of the old chart house</text><text x="6" y="46" font-size="7">leg. A. Pell, 2 June 1903</text></g></g>
<g transform="translate(332 282)"><rect width="44" height="16" fill="#b8322a"/><text x="22" y="11.5" font-family="Georgia,serif" font-size="8" fill="#fff" text-anchor="middle" letter-spacing="1">TYPE</text></g>`,
  );
}

/** The Glazier's Radiolarian in the round field of the microscope: a sphere of lattice and its spines. */
export function radiolarian() {
  const front = [];
  const golden = Math.PI * (3 - Math.sqrt(5));
  for (let i = 0; i < 150; i++) {
    const z = 1 - (2 * i + 1) / 150;
    const r = Math.sqrt(1 - z * z);
    const [x, y] = [Math.cos(golden * i) * r, Math.sin(golden * i) * r];
    const turn = n((Math.atan2(y, x) * 180) / Math.PI);
    if (z > 0.04) {
      front.push(
        `<ellipse rx="${n(7.4 * Math.max(0.16, z))}" ry="7.4" transform="translate(${at(200 + x * 84, 160 + y * 84)}) rotate(${turn})"/>`,
      );
    }
  }
  const spines = [];
  for (let i = 0; i < 14; i++) {
    const angle = (i / 14) * Math.PI * 2 + 0.13 * Math.sin(i * 7);
    const reach = 118 + ((i * 11) % 17);
    const [c, s] = [Math.cos(angle), Math.sin(angle)];
    spines.push(
      `M${at(200 + c * 86 - s * 4, 160 + s * 86 + c * 4)}L${at(200 + c * reach, 160 + s * reach)}L${at(200 + c * 86 + s * 4, 160 + s * 86 - c * 4)}Z`,
    );
  }
  return svg(
    400,
    320,
    "A radiolarian: a sphere of glass lattice with fourteen spines, under the microscope",
    `<defs><radialGradient id="f"><stop offset="0" stop-color="#24566a"/><stop offset=".7" stop-color="#10303f"/><stop offset="1" stop-color="#081b25"/></radialGradient><radialGradient id="s" cx=".36" cy=".32"><stop offset="0" stop-color="#fdfdf6"/><stop offset=".55" stop-color="#a9d0d2"/><stop offset="1" stop-color="#3f7a86"/></radialGradient></defs>
<rect width="400" height="320" fill="#f6f0de"/><circle cx="200" cy="160" r="152" fill="url(#f)" stroke="#06141b" stroke-width="3"/>
<path d="${spines.join("")}" fill="#cfe6e2" opacity=".9"/>
<circle cx="200" cy="160" r="88" fill="url(#s)"/><g fill="#123847" opacity=".88">${front.join("")}</g>
<circle cx="178" cy="134" r="34" fill="#fff" opacity=".16"/>
<path d="M206 296h40" stroke="#e8f2ee" stroke-width="2"/><text x="226" y="290" font-family="Georgia,serif" font-size="9" fill="#e8f2ee" text-anchor="middle">50 µm</text>`,
  );
}

/** The way to the door. From 2018 on the entrance is round the corner, in Ropewalk. */
export function map(door) {
  const waves = [];
  for (let row = 0; row < 5; row++) {
    for (let i = 0; i < 7; i++) waves.push(`M${24 + i * 66 + (row % 2) * 30} ${250 + row * 14}q8-6 16 0t16 0`);
  }
  const blocks = [
    "20 20 92 60",
    "132 20 112 60",
    "264 20 84 60",
    "368 20 92 60",
    "20 104 92 88",
    "264 104 84 88",
    "368 104 92 88",
  ];
  const marker = door === "ropewalk" ? [246, 148] : [186, 194];
  const way = door === "ropewalk" ? "M60 226H188C220 226 254 222 254 200V152" : "M60 226H150C170 226 186 220 186 202";
  return svg(
    480,
    320,
    "Map of Thistle Quay with the way to the Cabinet",
    `<rect width="480" height="320" fill="#efe6d0"/><path d="M0 240h480v80H0z" fill="#bcd3d3"/><path d="M0 236h480v6H0z" fill="#a48f68"/><path d="${waves.join("")}" fill="none" stroke="#8fb0b3" stroke-width="1.5"/>
<g fill="#dccfae" stroke="#b8a67c">${blocks.map((b) => `<rect x="${b.split(" ")[0]}" y="${b.split(" ")[1]}" width="${b.split(" ")[2]}" height="${b.split(" ")[3]}"/>`).join("")}</g>
<rect x="132" y="104" width="112" height="88" fill="#8c2f1b" stroke="#4d1a0f"/><path d="M132 104l56 34 56-34M132 192l56-34 56 34M188 138v20" fill="none" stroke="#b9553a"/>
<path d="M300 238v46h-14v10h44v-10h-14v-46" fill="#a48f68"/><path d="M90 272q22 14 52 0l-6-10H96zM116 262v-34l20 28z" fill="#fbf6e9" stroke="#5d4a2c"/>
<path d="${way}" fill="none" stroke="#22404a" stroke-width="3" stroke-dasharray="2 6" stroke-linecap="round"/>
<path d="M${marker[0]} ${marker[1]}l-9-20a11 11 0 1 1 18 0z" fill="#22404a"/><circle cx="${marker[0]}" cy="${marker[1] - 25}" r="4" fill="#fff"/>
<circle cx="60" cy="226" r="6" fill="#fff" stroke="#22404a" stroke-width="3"/>
<g font-family="Georgia,serif" font-size="11" fill="#4a3620"><text x="30" y="212">Ferry stage</text><text x="150" y="98" font-style="italic">Chandlers' Row</text><text x="332" y="232" font-style="italic">Lantern Row</text><text transform="translate(259 106) rotate(90)" font-style="italic" font-size="10">Ropewalk</text><text x="340" y="300" font-style="italic" fill="#3f6a70">Harrow Sound</text><text x="188" y="126" fill="#fbe9d6" text-anchor="middle" font-size="10">THE CABINET</text></g>
<g transform="translate(440 276)" fill="#4a3620"><path d="M0-18 5 0 0-4-5 0z"/><text y="14" font-family="Georgia,serif" font-size="11" text-anchor="middle">N</text></g>`,
  );
}
