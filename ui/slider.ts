/** The slider of a site: shows its date while it is moved, and asks for it when it is let go. */

const DAY_MS = 86_400_000;
/** Keys move it step by step: the page is asked for when no other follows. */
const PAUSE_MS = 700;

export function offerSliders(): void {
  for (const form of document.querySelectorAll<HTMLFormElement>("form[data-slider]")) {
    const input = form.querySelector<HTMLInputElement>("input[type=range]");
    const output = form.querySelector("output");
    if (input === null || output === null) continue;
    let timer: ReturnType<typeof setTimeout> | undefined;
    input.addEventListener("input", () => {
      const day = new Date(Number(input.value) * DAY_MS).toISOString().slice(0, 10);
      output.textContent = day;
      input.setAttribute("aria-valuetext", day);
      clearTimeout(timer);
    });
    input.addEventListener("change", () => {
      clearTimeout(timer);
      timer = setTimeout(() => form.requestSubmit(), PAUSE_MS);
    });
  }
}
