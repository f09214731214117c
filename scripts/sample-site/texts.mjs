/** What the site says: the specimens, the news, the hours, the guest book. People, places and species are invented. */

export const SPECIMENS = [
  {
    slug: "lantern-swallowtail",
    name: "Lantern Swallowtail",
    latin: "Papilio lucernifer",
    author: "Wren, 1871",
    group: "Insects",
    drawer: 7,
    since: 2009,
    image: "lantern-swallowtail.png",
    size: [348, 261],
    alt: "A butterfly with amber wings, dark bars and blue crescents, pinned and spread",
    found: "Harrow Sound lighthouse, gallery rail, 19 August 1870; Ottilie Wren",
    measure: "Wingspan 94 mm",
    text: [
      "Ottilie Wren was twenty-two, and had climbed the lighthouse to deliver lamp oil, when she found this butterfly asleep on the gallery rail. She carried it down a hundred and twelve steps in her hat.",
      "The amber of the forewing fades towards the tip as lamplight fades on a wall, and she named the species for it. No second specimen was seen until 1934, so that for sixty-three years everything known of the Lantern Swallowtail was known from the animal in this drawer.",
    ],
  },
  {
    slug: "orchard-beetle",
    name: "Orchard Beetle",
    latin: "Carabus pomarii",
    author: "Wren, 1874",
    group: "Insects",
    drawer: 12,
    since: 2009,
    image: "orchard-beetle.png",
    size: [350, 280],
    alt: "A glossy ground beetle with furrowed wing cases, seen from above",
    found: "Mr Tolliver's orchard, under a fallen pear, 3 October 1873; Ottilie Wren",
    measure: "Length 31 mm",
    text: [
      "A hunter of slugs, fast and short of temper. The holotype bit its describer, who says so in the description.",
      "Its colour is not a pigment but a matter of light: thin layers in the wing cases return green to a viewer on one side and copper to a viewer on the other. Anyone who has read two descriptions of this beetle has read of two colours.",
    ],
    textFrom2018: [
      "A hunter of slugs, fast and short of temper. The holotype bit its describer, who says so in the description.",
      "Its colour is not a pigment but a matter of light. Our old photograph, taken under a desk lamp, showed it green. The new one, taken at the north window in January 2018, shows it copper and violet. Both are right, and the beetle has not been moved.",
    ],
  },
  {
    slug: "clockmakers-ammonite",
    name: "Clockmaker's Ammonite",
    latin: "Lytoceras horologii",
    author: "Marsh, 1882",
    group: "Fossils",
    drawer: 23,
    since: 2009,
    image: "clockmakers-ammonite.png",
    size: [350, 280],
    alt: "A polished ammonite, brown at the heart and turning green and violet towards the mouth",
    found: "Foreshore below Gallows Cliff, after the storm of 9 February 1881; Josiah Marsh",
    measure: "Diameter 118 mm",
    text: [
      "Josiah Marsh mended clocks, and counted the seventeen chambers of the last whorl before he noticed anything else. He was sure that the animal had kept time, one chamber to the moon, and said so for the rest of his life.",
      "The shell still has its mother-of-pearl. Turn it by a few degrees and the green runs inward along the spiral, chamber by chamber, like the hand of something.",
    ],
  },
  {
    slug: "typesetters-urchin",
    name: "Typesetter's Urchin",
    latin: "Echinus compositor",
    author: "Wren, 1879",
    group: "Sea life",
    drawer: 31,
    since: 2009,
    image: "typesetters-urchin.png",
    size: [300, 242],
    alt: "The round shell of a sea urchin seen from above, violet and cream, with rows of white bosses",
    found: "Dredged off the Nore Bank in eleven fathoms, May 1878; crew of the smack Patience",
    measure: "Diameter 62 mm",
    text: [
      "Twenty rows of bosses, evenly leaded, justified at both margins: it was the foreman of the Quay Gazette who said that it looked like a page of type before the ink, and Wren let him have the name.",
      "The spines fell off in the dredge. They are in the small glass tube beside it, all one hundred and ninety-four that were found.",
    ],
    textFrom2024: [
      "Twenty rows of bosses, evenly leaded, justified at both margins: it was the foreman of the Quay Gazette who said that it looked like a page of type before the ink, and Wren let him have the name.",
      "In 2023 a visiting student compared our specimen with the urchins of the northern banks and found one species where there had been two names. The older name stands, and it is not ours. This is still the holotype of compositor, and will be for ever; only there is no longer a living animal of that name.",
      "The spines fell off in the dredge. They are in the small glass tube beside it, all one hundred and ninety-five. We counted again.",
    ],
  },
  {
    slug: "mapmakers-spleenwort",
    name: "Mapmaker's Spleenwort",
    latin: "Asplenium cartographi",
    author: "Pell, 1903",
    group: "Plants",
    drawer: 36,
    since: 2013,
    image: "mapmakers-spleenwort.svg",
    size: [400, 320],
    alt: "A pressed fern of four fronds on a herbarium sheet with two labels",
    found: "Seaward wall of the old chart house, 2 June 1903; Agnes Pell",
    measure: "Longest frond 23 cm",
    text: [
      "It grew from one crack in one wall, and the wall came down in 1911. Agnes Pell drew the crack as well as the fern, with a scale and a north point, and her drawing hangs over the drawer.",
      "The sheet was lent in 1954 and came back in 2012, in the post, with no letter.",
    ],
  },
  {
    slug: "glaziers-radiolarian",
    name: "Glazier's Radiolarian",
    latin: "Haliomma vitrarii",
    author: "Pell, 1911",
    group: "Sea life",
    drawer: 40,
    since: 2018,
    image: "glaziers-radiolarian.svg",
    size: [400, 320],
    alt: "A sphere of glass lattice with fourteen spines in the round field of a microscope",
    found: "Bottom ooze, brought up on a ship's lead, Harrow Deep, 1910; Agnes Pell",
    measure: "Diameter of the sphere 0.18 mm",
    text: [
      "The smallest thing in the Cabinet, and the only one that cannot be seen in it. It lies under a cover slip on slide 3, a ball of glass that a single cell made for itself.",
      "For a century it was thought lost. In the spring of 2016 somebody cleaned the slide.",
    ],
  },
];

export const NEWS = [
  [
    "2009-05-02",
    "We have a web site",
    "Mrs Marlowe's nephew made it over Easter, and it has four specimens on it. The other thirty-six drawers will follow when he has time.",
  ],
  ["2009-04-11", "The roof", "It is finished. Thank you to everyone who sat through the sponsored silence."],
  [
    "2009-02-20",
    "Evening talk: What is a holotype?",
    "One animal, one label, one name. Tea from half past six, talk at seven.",
  ],
  [
    "2013-08-24",
    "The Drawing Room is open",
    "Agnes Pell's drawings of things too small, too large or too dead to photograph, until further notice, in the old scullery.",
  ],
  ["2013-03-09", "Open on Thursdays", "By request of the school, which comes on Thursdays and used to stand outside."],
  [
    "2012-11-17",
    "A fern comes home",
    "The holotype of the Mapmaker's Spleenwort, lent in 1954, arrived in the ordinary post. We should like to thank whoever it was.",
  ],
  ["2011-06-05", "Forty drawers counted", "There are forty. The catalogue had always said so, but nobody had counted."],
  [
    "2018-03-10",
    "A new front door",
    "From now on the entrance is in Ropewalk, where there is no step. The old door in Lantern Row stays as a door, for looking at.",
  ],
  [
    "2018-01-19",
    "The beetle in a new light",
    "We have photographed drawer 12 again, at the window this time. It turns out that it is also copper.",
  ],
  ["2016-04-28", "Slide 3", "The Glazier's Radiolarian is not lost. It was under the dust."],
  [
    "2024-05-18",
    "One name fewer",
    "The Typesetter's Urchin is now thought to be a species that already had a name. Our label stays: a holotype is the holotype of its name, whatever becomes of the name.",
  ],
  [
    "2024-02-03",
    "The catalogue as data",
    "All of our open drawers, as one small file that machines can read, with the compliments of the keeper's granddaughter.",
  ],
  [
    "2022-09-30",
    "The Drawing Room has closed",
    'After nine years of "until further notice", this was the notice. The drawings are in drawer 38 and may be seen on asking.',
  ],
  ["2020-07-14", "Open again, six at a time", "Which is how many fit in front of the cabinet anyway."],
];

export const HOURS = {
  2009: {
    days: [
      ["Wednesday", "2 – 5"],
      ["Saturday", "10 – 5"],
      ["Bank holidays", "ring the bell"],
    ],
    fee: "Admission 50p; children and students of beetles free.",
  },
  2013: {
    days: [
      ["Wednesday", "2 – 5"],
      ["Thursday", "10 – 4"],
      ["Saturday", "10 – 5"],
      ["Bank holidays", "ring the bell"],
    ],
    fee: "Admission £1; children and students of beetles free.",
  },
  2018: {
    days: [
      ["Wednesday to Friday", "11 – 17"],
      ["Saturday", "10 – 17"],
      ["Bank holidays", "ring the bell"],
    ],
    fee: "Admission is free. There is a box by the door, in the shape of a beetle.",
  },
  2024: {
    days: [
      ["Wednesday to Saturday", "11 – 17"],
      ["First Sunday of the month", "13 – 17, quiet hours"],
      ["Bank holidays", "ring the bell"],
    ],
    fee: "Admission is free. Six visitors at a time; nobody has ever had to wait longer than a pot of tea.",
  },
};

export const ABOUT = [
  "A holotype is the one specimen on which the name of a species rests. When two people disagree about what a name means, they go and look at it. There can be many beetles of a kind; there is only one holotype.",
  "Ottilie Wren, a chandler's daughter, began the Cabinet in 1869 with a chest of forty drawers bought from a seed merchant. She filled seven. Josiah Marsh, clockmaker, and Agnes Pell, draughtswoman, filled most of the rest. Every one of the forty holds a single specimen, its label, and nothing else.",
  "The house at 4 Lantern Row has been open to visitors since 1902. It is kept by a keeper, who lives upstairs, and a board of five, who do not.",
];

export const GUEST_BOOK = [
  [2009, "R. Tolliver", "My great-grandfather's orchard! The pears are still good."],
  [2009, "Class 4B", "We liked the beetle. It looked at us."],
  [2009, "A visitor from the ferry", "Came in out of the rain, stayed until closing."],
  [2013, "Nils", "Counted the urchin's rows. Twenty. Very satisfying."],
  [2013, "H. and J.", "Is the fern always this quiet?"],
];

export const LABELS_PAGE = `<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01//EN" "http://www.w3.org/TR/html4/strict.dtd">
<html lang="en">
<head>
<meta http-equiv="Content-Type" content="text/html; charset=utf-8">
<title>How to read a label</title>
<style type="text/css">
body { margin: 3em auto; max-width: 34em; padding: 0 1em; background: #fbf6e9; color: #2c2118; font: 17px/1.6 Georgia, "Times New Roman", serif; }
h1 { font-weight: normal; font-size: 1.9em; border-bottom: 3px double #8c2f1b; padding-bottom: .3em; }
.label { border: 1px solid #8c7a52; background: #fffdf6; margin: 1.5em auto; padding: .6em 1em; width: 17em; font-size: 15px; line-height: 1.35; }
.label b { background: #b8322a; color: #fff; padding: 0 .4em; font-weight: normal; letter-spacing: .1em; }
dt { font-style: italic; margin-top: .8em; }
dd { margin: 0 0 0 2em; }
a { color: #8c2f1b; }
</style>
</head>
<body>
<h1>How to read a label</h1>
<p>A label is the shortest complete story in natural history. It is written small, in ink that does not fade, and it goes on the same pin as the animal, so that the two cannot be parted without an effort.</p>
<div class="label"><b>TYPE</b><br><i>Papilio lucernifer</i> Wren<br>Harrow Sound, lighthouse<br>gallery rail, 19.viii.1870<br>leg. O. Wren &nbsp; No. 7</div>
<dl>
<dt>The red slip</dt><dd>Says that this one is the type. Be careful with it: there is no other.</dd>
<dt>The name</dt><dd>The one that it was given first. Names may change afterwards. The label is not altered; a second label is added below it.</dd>
<dt>Where</dt><dd>As exactly as the collector could say. "England" is not a place.</dd>
<dt>When</dt><dd>The month in Roman numerals, so that nobody abroad can turn it round.</dd>
<dt>leg.</dt><dd><i>Legit</i>, "she gathered it".</dd>
</dl>
<p>A thing without a label is a pretty thing. A thing with a label is evidence.</p>
<p><a href="/">Back to the Cabinet</a></p>
</body>
</html>
`;

/** The visiting days as a calendar file, for those who asked. */
export function calendar(year) {
  const lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//The Cabinet of Holotypes//Visiting days//EN"];
  HOURS[year].days.forEach(([day, hours], index) => {
    lines.push("BEGIN:VEVENT", `UID:${year}-${index}@cabinet.example`, `DTSTAMP:${year}0101T000000Z`);
    lines.push(
      `DTSTART;VALUE=DATE:${year}010${index + 1}`,
      `SUMMARY:${day}: ${hours.replaceAll(",", "\\,")}`,
      "END:VEVENT",
    );
  });
  return [...lines, "END:VCALENDAR", ""].join("\r\n");
}

export const specimensOf = (year) => SPECIMENS.filter((specimen) => specimen.since <= year);

export function paragraphsOf(specimen, year) {
  if (year >= 2024 && specimen.textFrom2024) return specimen.textFrom2024;
  if (year >= 2018 && specimen.textFrom2018) return specimen.textFrom2018;
  return specimen.text;
}

/** News up to and including a year, newest first. */
export function newsOf(year, count) {
  const known = NEWS.filter(([date]) => Number(date.slice(0, 4)) <= year);
  return known.sort((a, b) => (a[0] < b[0] ? 1 : -1)).slice(0, count);
}

const MONTHS = "January February March April May June July August September October November December".split(" ");

export function formatDay(date) {
  const [year, month, day] = date.split("-").map(Number);
  return `${day} ${MONTHS[month - 1]} ${year}`;
}
