/** Buttons that put a text of the page on the clipboard: `<button data-copy="ID of what to copy" hidden>`. */

const SAID_MS = 2000;

export function offerCopies(): void {
  for (const button of document.querySelectorAll<HTMLButtonElement>("button[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", () => void copy(button));
  }
}

async function copy(button: HTMLButtonElement): Promise<void> {
  const text = document.getElementById(button.dataset["copy"] ?? "")?.textContent ?? "";
  const before = button.textContent;
  try {
    await navigator.clipboard.writeText(text.trim());
    button.textContent = "Copied";
  } catch {
    button.textContent = "Select it by hand";
  }
  setTimeout(() => {
    button.textContent = before;
  }, SAID_MS);
}
