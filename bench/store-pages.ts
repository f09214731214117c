/** Pages as a crawler would bring them: text of words, 19.2 KB on average, each one different and always the same. */

const WORDS = Array.from({ length: 2048 }, (_, i) => {
  let word = "";
  for (let rest = i + 7; rest > 0; rest = Math.floor(rest / 17)) word += "etaoinshrdlucmfwy"[rest % 17];
  return word;
});

function next(state: number): number {
  return (Math.imul(state, 1664525) + 1013904223) >>> 0;
}

/** The page with this number in a set; sets have no pages in common. */
export function makePage(set: number, number: number, meanSize = 19_200): Buffer {
  let state = next(next(set * 1_000_003 + number));
  const size = Math.floor(meanSize * (0.25 + (1.5 * (state % 1000)) / 1000));
  let text = `<!doctype html><title>${set}/${number}</title>\n`;
  while (text.length < size) {
    state = next(state);
    // The product of two even numbers is mostly small: so are the ranks of words.
    const rank = Math.floor((((state >>> 8) % 4096) * ((state >>> 20) % 4096)) / 8192);
    text += `${WORDS[rank % WORDS.length]} `;
  }
  return Buffer.from(text.slice(0, size), "latin1");
}
